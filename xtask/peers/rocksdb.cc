// Reads filters with RocksDB, in the place of the filter of a table. Arguments: FORMAT KEY_TYPE FILTER KEYS.
//
// RocksDB reads filters only in tables. This program makes a table without checksums whose filter block has the length
// of the given filter, and writes the given filter over it. Then a database takes the table, and `Get` asks the filter
// about each key: the counters of the thread have its answer. `Get` asks only about keys that are in the range of the
// table, so the table has the least key and a great one.

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <filesystem>
#include <memory>

#include "keys.h"

using namespace rocksdb;

// The bytes after the bits.
constexpr size_t kTrailer = 5;

static void check(const Status& status) {
  if (!status.ok()) fail(status.ToString());
}

static Options options(int format_version, double bits_per_key) {
  BlockBasedTableOptions table;
  table.format_version = format_version;
  table.checksum = kNoChecksum;
  table.filter_policy.reset(NewBloomFilterPolicy(bits_per_key));
  Options options;
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

// Writes a table of this number of keys.
static void write_table(const Options& options, const std::string& path, size_t count) {
  SstFileWriter writer(EnvOptions(), options);
  check(writer.Open(path));
  check(writer.Put("", ""));
  for (size_t i = 0; i < count - 2; ++i) {
    // Big-endian numbers ascend, as the keys must.
    std::string key(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(i >> shift));
    check(writer.Put(key, ""));
  }
  check(writer.Put(std::string(12, '\xff'), ""));
  check(writer.Finish());
}

// Writes the filter over that of the table, which follows the data blocks.
static void replace_filter(const Options& options, const std::string& path, const std::string& filter) {
  SstFileReader reader(options);
  check(reader.Open(path));
  const std::shared_ptr<const TableProperties> table = reader.GetTableProperties();
  if (table->filter_size != filter.size()) {
    fail("the table has a filter of " + std::to_string(table->filter_size) + " bytes, not of " +
         std::to_string(filter.size()));
  }
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(table->data_size));
  file.write(filter.data(), static_cast<std::streamsize>(filter.size()));
  if (!file.flush()) fail("cannot write " + path);
}

int main(int, char** arguments) {
  const std::string filter = read_file(arguments[3]);
  const bool legacy = std::string(arguments[1]) == "rocksdb:legacy";
  const size_t bytes = filter.size() - kTrailer;
  // Numbers for which both formats make a filter of this length: 80 bits per key are 10 bytes, rounded up to blocks of
  // 64; 64 bits per key are 8 keys per line of 64 bytes.
  const Options options = legacy ? ::options(4, 64) : ::options(5, 80);
  const size_t count = legacy ? bytes / 8 : bytes / 10;

  std::string folder = (std::filesystem::temp_directory_path() / "peer-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) fail("cannot make a folder");
  const std::string table = folder + "/table.sst";
  write_table(options, table, count);
  replace_filter(options, table, filter);
  DB* db = nullptr;
  check(DB::Open(options, folder + "/db", &db));
  check(db->IngestExternalFile({table}, IngestExternalFileOptions()));

  SetPerfLevel(kEnableCount);
  std::string value;
  for (const std::string& key : read_keys(arguments[2], arguments[4])) {
    get_perf_context()->Reset();
    db->Get(ReadOptions(), key, &value);
    const uint64_t found = get_perf_context()->bloom_sst_hit_count;
    const uint64_t missed = get_perf_context()->bloom_sst_miss_count;
    if (found + missed != 1) fail("the filter was asked " + std::to_string(found + missed) + " times");
    std::cout << (found == 1 ? '1' : '0');
  }
  delete db;
  std::filesystem::remove_all(folder);
}
