// Reads the keys of a reader, and prints its answers.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

// Prints why the filter cannot be read, and ends the program.
[[noreturn]] inline void fail(const std::string& reason) {
  std::cerr << reason << std::endl;
  std::exit(1);
}

// Returns the bytes of a file.
inline std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the keys of a file: a line each, which is the key, or its hexadecimal digits if the type is `bytes`.
inline std::vector<std::string> read_keys(const std::string& key_type, const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    if (key_type != "bytes") {
      keys.push_back(line);
      continue;
    }
    std::string key;
    for (size_t i = 0; i + 1 < line.size(); i += 2) {
      key.push_back(static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16)));
    }
    keys.push_back(key);
  }
  return keys;
}
