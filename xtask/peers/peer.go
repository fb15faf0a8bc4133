// Reads filters with the packages bloom and cuckoofilter. Arguments: FORMAT KEY_TYPE FILTER KEYS.
package main

import (
	"bytes"
	"encoding/hex"
	"os"

	"github.com/bits-and-blooms/bloom"
	cuckoo "github.com/seiflotfy/cuckoofilter"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Returns the test of a filter.
func contains(format string, filter []byte) func([]byte) bool {
	if format == "go_cuckoo" {
		found, err := cuckoo.Decode(filter)
		check(err)
		return found.Lookup
	}
	found := bloom.New(1, 1)
	_, err := found.ReadFrom(bytes.NewReader(filter))
	check(err)
	return found.Test
}

func main() {
	format, keyType := os.Args[1], os.Args[2]
	filter, err := os.ReadFile(os.Args[3])
	check(err)
	lines, err := os.ReadFile(os.Args[4])
	check(err)
	test := contains(format, filter)
	var answers []byte
	for _, key := range bytes.SplitAfter(lines, []byte("\n")) {
		if len(key) == 0 {
			continue
		}
		key = key[:len(key)-1]
		if keyType == "bytes" {
			_, err = hex.Decode(key, key)
			check(err)
			key = key[:len(key)/2]
		}
		answer := byte('0')
		if test(key) {
			answer = '1'
		}
		answers = append(answers, answer)
	}
	_, err = os.Stdout.Write(answers)
	check(err)
}
