//! The lines of examples in which the blocking filter and the asynchronous one differ. `async
//! await`: those of the asynchronous one.

/// Returns `.await`, or nothing.
macro_rules! dot {
    ($($await:ident)?) => {
        concat!($(".", stringify!($await))?)
    };
}
pub(crate) use dot;

/// Returns the first lines: they begin a function that uses the filter `$name`.
macro_rules! begin {
    ($name:ident $(, $async:ident $await:ident)?) => {
        concat!(
            "use tamis_redis::", stringify!($name), ";\n\n# ", $(stringify!($async), " ",)?
            "fn example() -> Result<(), Box<dyn std::error::Error>> {"
        )
    };
}
pub(crate) use begin;

/// Returns the first lines, which are not shown: they open the filter `seen`.
macro_rules! opened {
    ($name:ident $(, $async:ident $await:ident)?) => {
        concat!(
            "# use tamis_redis::", stringify!($name), ";\n# ", $(stringify!($async), " ",)?
            "fn example() -> Result<(), Box<dyn std::error::Error>> {\n# let seen = ",
            stringify!($name), "::<str>::builder(\"redis://127.0.0.1:6379/\", \"crawl\").open()",
            $(".", stringify!($await),)? "?;"
        )
    };
}
pub(crate) use opened;
