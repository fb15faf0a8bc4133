// Reads filters with Guava.

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;

final class GuavaPeer {
    public static void main(String[] arguments) throws Exception {
        Peer.run(arguments, (format, keyType, bytes) -> {
            Funnel<?> funnel = switch (keyType) {
                case "utf8" -> Funnels.stringFunnel(StandardCharsets.UTF_8);
                case "bytes" -> Funnels.byteArrayFunnel();
                case "i32" -> Funnels.integerFunnel();
                default -> Funnels.longFunnel();
            };
            @SuppressWarnings("unchecked")
            Funnel<Object> any = (Funnel<Object>) funnel;
            return BloomFilter.readFrom(new ByteArrayInputStream(bytes), any)::mightContain;
        });
    }
}
