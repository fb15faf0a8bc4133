// Reads filters with Spark.

import java.io.ByteArrayInputStream;
import org.apache.spark.util.sketch.BloomFilter;

final class SparkPeer {
    public static void main(String[] arguments) throws Exception {
        Peer.run(arguments, (format, keyType, bytes) ->
            BloomFilter.readFrom(new ByteArrayInputStream(bytes))::mightContain);
    }
}
