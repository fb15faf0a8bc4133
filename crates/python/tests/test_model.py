"""Random sequences of all operations of `BloomFilter`, against a set."""

import pickle

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

import tamis

ITEMS = st.one_of(
    st.integers(-(2**127), 2**127 - 1),
    st.integers(-3, 3),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.binary(max_size=20),
)
# The other items of a sequence are false positives with a probability of 1e-12 each.
RATE = 1e-12


def canonical(item: int | str | bytes) -> bytes:
    """The bytes that are hashed."""
    if isinstance(item, int):
        size = 8 if -(2**63) <= item < 2**63 else 16
        return item.to_bytes(size, "little", signed=True)
    return item.encode() if isinstance(item, str) else item


class Model(RuleBasedStateMachine):
    filters = Bundle("filters")

    @initialize(target=filters)
    def first(self) -> tuple[tamis.BloomFilter, set[bytes]]:
        return tamis.BloomFilter(10_000, RATE), set()

    @rule(target=filters, pair=filters, how=st.sampled_from(["copy", "pickle", "bytes", "or"]))
    def again(
        self, pair: tuple[tamis.BloomFilter, set[bytes]], how: str
    ) -> tuple[tamis.BloomFilter, set[bytes]]:
        seen, model = pair
        if how == "copy":
            return seen.copy(), set(model)
        if how == "pickle":
            return pickle.loads(pickle.dumps(seen)), set(model)
        if how == "bytes":
            return tamis.BloomFilter.from_bytes(seen.to_bytes()), set(model)
        return seen | seen, set(model)

    @rule(pair=filters, item=ITEMS)
    def add(self, pair: tuple[tamis.BloomFilter, set[bytes]], item: int | str | bytes) -> None:
        seen, model = pair
        assert seen.add(item) == (canonical(item) not in model)
        model.add(canonical(item))

    @rule(pair=filters, items=st.lists(ITEMS))
    def update(self, pair: tuple[tamis.BloomFilter, set[bytes]], items: list[int]) -> None:
        seen, model = pair
        before = len(model)
        model.update(map(canonical, items))
        assert seen.update(iter(items), tuple(items)) == len(model) - before

    @rule(pair=filters, items=st.lists(ITEMS))
    def add_many(self, pair: tuple[tamis.BloomFilter, set[bytes]], items: list[int]) -> None:
        seen, model = pair
        expected = []
        for item in items:
            expected.append(canonical(item) not in model)
            model.add(canonical(item))
        assert seen.add_many(items).tolist() == expected

    @rule(pair=filters, items=st.lists(ITEMS))
    def query(self, pair: tuple[tamis.BloomFilter, set[bytes]], items: list[int]) -> None:
        seen, model = pair
        expected = [canonical(item) in model for item in items]
        assert seen.contains_many(items).tolist() == expected
        assert [item in seen for item in items] == expected

    @rule(one=filters, other=filters)
    def unite(
        self,
        one: tuple[tamis.BloomFilter, set[bytes]],
        other: tuple[tamis.BloomFilter, set[bytes]],
    ) -> None:
        seen, model = one
        seen |= other[0]
        model |= other[1]

    @rule(pair=filters)
    def clear(self, pair: tuple[tamis.BloomFilter, set[bytes]]) -> None:
        pair[0].clear()
        pair[1].clear()

    @rule(pair=filters)
    def count(self, pair: tuple[tamis.BloomFilter, set[bytes]]) -> None:
        seen, model = pair
        assert abs(seen.approx_len() - len(model)) <= 2 + len(model) / 20


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
