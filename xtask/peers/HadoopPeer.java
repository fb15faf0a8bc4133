// Reads filters with Hadoop.

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.util.bloom.BloomFilter;
import org.apache.hadoop.util.bloom.CountingBloomFilter;
import org.apache.hadoop.util.bloom.Filter;
import org.apache.hadoop.util.bloom.Key;

final class HadoopPeer {
    public static void main(String[] arguments) throws Exception {
        Peer.run(arguments, (format, keyType, bytes) -> {
            Filter filter = format.endsWith("counting") ? new CountingBloomFilter() : new BloomFilter();
            filter.readFields(new DataInputStream(new ByteArrayInputStream(bytes)));
            return key -> filter.membershipTest(new Key(bytes(key)));
        });
    }

    private static byte[] bytes(Object key) {
        return key instanceof String ? ((String) key).getBytes(StandardCharsets.UTF_8) : (byte[]) key;
    }
}
