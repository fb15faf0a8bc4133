//! Round trips of cuckoo filters that grow in place, at every step of their growth.

use crate::common::{
    Cuckoo, any_rapid, bytes_of, check_round_trip, filled, growing_pairs, growing_words, map_file,
    read_again, small_cuckoo, small_growing_cuckoo,
};
use tamis_cuckoo::{CuckooFilter, Filter as _, OnceCuckooFilter, raw};
use tamis_formats::{
    FilterSet, Geometry, Info, Kind, LoadError, SetSaveError, SetWriter, map, save,
};

/// Filters that have grown not at all, a little, and through several shapes of buckets, to several
/// chunks, of both types.
#[test]
fn cuckoo_filters_that_have_grown() {
    for (items, rate) in [(0, 0.05), (1500, 1e-2), (10_000, 1e-4), (150_000, 1e-5), (400_000, 0.03)]
    {
        let builder = CuckooFilter::<u64>::builder().capacity(1).max_capacity(500_000);
        let builder = builder.false_positive_rate(rate).hasher(any_rapid(items));
        let filter = filled(builder.build().unwrap(), items);
        assert_eq!(filter.len() as u64, items);
        check_round_trip(&filter);
        for item in 500..items {
            assert!(filter.remove(&item));
        }
        check_round_trip(&filter);
        // A loaded filter goes on growing.
        let again = read_again(&filter);
        assert!(items < 500 || again.len() == 500);
        again.try_extend(500..500_000).unwrap();
        assert!((0..items).all(|item| again.contains(&item)));
        assert!(again.size_in_bytes() > filter.size_in_bytes() || items == 400_000);
        let builder = OnceCuckooFilter::<u64>::builder().capacity(1).max_capacity(500_000);
        let builder = builder.false_positive_rate(rate).hasher(any_rapid(items));
        check_round_trip(&filled(builder.build().unwrap(), items));
    }
}

/// Every number of split buckets of small filters, with buckets of either size: the loaded filter
/// grows in the same steps as the saved one, to the same end.
#[test]
fn cuckoo_filters_at_every_step_of_growth() {
    for geometry in [growing_words(), growing_pairs()] {
        if !raw::is_supported(geometry) {
            continue;
        }
        let builder = CuckooFilter::<u64>::builder().like(geometry).hasher(any_rapid(3));
        let filter = builder.build().unwrap();
        let mut size = 0;
        for item in 0.. {
            if filter.insert(&item).is_err() {
                break;
            }
            if filter.size_in_bytes() != size {
                size = filter.size_in_bytes();
                check_round_trip(&filter);
                let again = read_again(&filter);
                let (next, after) = (filter.clone(), item + 1..item + 30);
                for item in after {
                    assert_eq!(again.insert(&item), next.insert(&item));
                    assert_eq!(again.size_in_bytes(), next.size_in_bytes());
                }
            }
        }
        let all = geometry.buckets() << geometry.doublings();
        let info = Info::read(&bytes_of(&filter)[..]).unwrap();
        let Geometry::GrowingCuckoo(sizes) = info.geometry() else { panic!("it does not grow") };
        assert_eq!((sizes.geometry(), sizes.buckets()), (geometry, all));
    }
}

/// A filter that grows can be loaded, but not be mapped.
#[test]
fn a_cuckoo_filter_that_grows_is_not_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing");
    let filter = small_growing_cuckoo();
    save(&filter, &path).unwrap();
    let error = map::<Cuckoo>(map_file(&path)).unwrap_err();
    assert!(matches!(error, LoadError::NotInPlace { kind: Kind::Cuckoo }), "{error:?}");
    let mut set = SetWriter::create(folder.path().join("set")).unwrap();
    let error = set.add("a", &filter).unwrap_err();
    assert!(matches!(error, SetSaveError::Grows { kind: Kind::Cuckoo }), "{error:?}");
    set.add("a", &small_cuckoo()).unwrap();
    // The set goes on, and has only filters of a fixed size.
    set.finish().unwrap();
    assert_eq!(FilterSet::<u64>::open(folder.path().join("set"), 0).unwrap().len(), 1);
}
