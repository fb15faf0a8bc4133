// Reads bitsets with Parquet for Java.

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.parquet.io.api.Binary;

final class ParquetPeer {
    public static void main(String[] arguments) throws Exception {
        Peer.run(arguments, (format, keyType, bytes) -> {
            BlockSplitBloomFilter filter = new BlockSplitBloomFilter(bytes);
            return key -> filter.findHash(hash(filter, key));
        });
    }

    private static long hash(BlockSplitBloomFilter filter, Object key) {
        if (key instanceof String) return filter.hash(Binary.fromString((String) key));
        if (key instanceof byte[]) return filter.hash(Binary.fromConstantByteArray((byte[]) key));
        if (key instanceof Integer) return filter.hash(((Integer) key).intValue());
        return filter.hash(((Long) key).longValue());
    }
}
