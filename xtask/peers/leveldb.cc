// Reads filters with LevelDB. Arguments: FORMAT KEY_TYPE FILTER KEYS.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "keys.h"

int main(int, char** arguments) {
  const std::string bytes = read_file(arguments[3]);
  const leveldb::Slice filter(bytes.data(), bytes.size());
  // The reader takes the number of probes from the filter, not from the policy.
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  for (const std::string& key : read_keys(arguments[2], arguments[4])) {
    std::cout << (policy->KeyMayMatch({key.data(), key.size()}, filter) ? '1' : '0');
  }
}
