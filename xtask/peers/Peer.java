// Reads a filter and keys, and prints the answers: what the readers in Java share.

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;

final class Peer {
    /** Reads a filter. The test that it returns gets a string, a byte array, an integer or a long per key. */
    interface Reader {
        Predicate<Object> read(String format, String keyType, byte[] filter) throws Exception;
    }

    /** Arguments: FORMAT KEY_TYPE FILTER KEYS. Prints 1 for each key that may be in the filter, 0 for each other. */
    static void run(String[] arguments, Reader reader) throws Exception {
        String keyType = arguments[1];
        byte[] filter = Files.readAllBytes(Path.of(arguments[2]));
        Predicate<Object> contains = reader.read(arguments[0], keyType, filter);
        List<String> lines = Files.readAllLines(Path.of(arguments[3]), StandardCharsets.UTF_8);
        StringBuilder answers = new StringBuilder();
        for (String line : lines) {
            answers.append(contains.test(key(keyType, line)) ? '1' : '0');
        }
        System.out.print(answers);
    }

    private static Object key(String keyType, String line) {
        return switch (keyType) {
            case "utf8" -> line;
            case "bytes" -> HexFormat.of().parseHex(line);
            case "i32" -> Integer.valueOf(line);
            case "i64" -> Long.valueOf(line);
            default -> throw new IllegalArgumentException(keyType);
        };
    }
}
