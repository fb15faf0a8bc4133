// Reads filters with DataSketches.

import org.apache.datasketches.filters.bloomfilter.BloomFilter;
import org.apache.datasketches.memory.Memory;

final class DataSketchesPeer {
    public static void main(String[] arguments) throws Exception {
        Peer.run(arguments, (format, keyType, bytes) -> {
            BloomFilter filter = BloomFilter.heapify(Memory.wrap(bytes));
            return key -> {
                if (key instanceof String) return filter.query((String) key);
                if (key instanceof byte[]) return filter.query((byte[]) key);
                return filter.query(((Number) key).longValue());
            };
        });
    }
}
