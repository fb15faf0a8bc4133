// Reads filters with ORC.

import org.apache.orc.OrcFile;
import org.apache.orc.OrcProto;
import org.apache.orc.TypeDescription;
import org.apache.orc.util.BloomFilter;
import org.apache.orc.util.BloomFilterIO;

final class OrcPeer {
    public static void main(String[] arguments) throws Exception {
        Peer.run(arguments, (format, keyType, bytes) -> {
            TypeDescription.Category category = switch (keyType) {
                case "utf8" -> TypeDescription.Category.STRING;
                case "bytes" -> TypeDescription.Category.BINARY;
                case "i32" -> TypeDescription.Category.INT;
                default -> TypeDescription.Category.LONG;
            };
            BloomFilter filter = BloomFilterIO.deserialize(
                OrcProto.Stream.Kind.BLOOM_FILTER_UTF8,
                OrcProto.ColumnEncoding.getDefaultInstance(),
                OrcFile.WriterVersion.FUTURE,
                category,
                OrcProto.BloomFilter.parseFrom(bytes));
            return key -> {
                if (key instanceof String) return filter.testString((String) key);
                if (key instanceof byte[]) return filter.test((byte[]) key);
                return filter.testLong(((Number) key).longValue());
            };
        });
    }
}
