//! `tamis merge` of the tables that `tamis new` keeps, against one table that got all lines.

use super::*;

impl Files {
    /// Creates a table from a file of lines.
    fn table(&self, name: &str, lines: &str, more: &[&str]) {
        self.run(&[&["new", "-q", name, lines], more].concat());
    }
}

/// The tables have grown differently: the lines of one are a few, and of the other many.
#[test]
fn a_merged_table_has_exactly_the_lines_of_both() {
    let files = Files::new();
    files.write("a", lines(0..60_000));
    files.write("b", lines(59_900..60_100));
    files.write("others", lines(70_000..130_000));
    for more in [&[][..], &["--capacity", "100"], &["--seed", "7"]] {
        files.table("fa", "a", more);
        files.table("fb", "b", more);
        fs::copy(files.path("fa"), files.path("both")).expect("copied");
        files.table("both", "b", &[]);
        for order in [["fa", "fb"], ["fb", "fa"]] {
            let (_, said) = files.run(&["merge", "-o", "union", order[0], order[1]]);
            assert!(said.starts_with("2 filters merged; union holds 60,100 items in "), "{said}");
            // Nothing is new, and nothing else is in it.
            assert_eq!(
                files.run(&["query", "-q", "union", "a", "b"]).0,
                lines((0..60_000).chain(59_900..60_100))
            );
            assert_eq!(files.run(&["query", "-q", "union", "others"]).0, "");
            assert_eq!(files.run(&["new", "-q", "union", "a", "b"]).0, "");
            // False positives are as likely as in one table that got all lines.
            let [union, both] = ["union", "both"].map(|name| files.info(name));
            for field in ["kind", "items", "false_positive_rate"] {
                assert_eq!(union[field], both[field], "{field}");
            }
        }
        for name in ["fa", "fb"] {
            fs::remove_file(files.path(name)).expect("removed");
        }
    }
}

#[test]
fn a_table_may_be_replaced_by_the_union_of_several() {
    let files = Files::new();
    for (name, range) in [("a", 0..2000), ("b", 1000..3000), ("c", 9000..9001)] {
        files.write(name, lines(range));
        files.table(&format!("f{name}"), name, &[]);
    }
    files.write("all", lines((0..3000).chain(9000..9001)));
    files.run(&["merge", "-q", "-o", "fa", "fa", "fb", "fc", "fa"]);
    assert_eq!(files.info("fa")["items"], 3001.0);
    assert_eq!(files.run(&["new", "-q", "fa", "all"]).0, "");
}
