//! Finds the links of a page, or the pages of a sitemap.

use core::cell::RefCell;

use html_escape::decode_html_entities;
use lol_html::html_content::{Element, TextChunk};
use lol_html::{HtmlRewriter, Settings, element, text};
use url::Url;

use crate::urls;

/// The most links that are taken from one page.
const MAX_LINKS: usize = 50_000;

/// What a document is, by its `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Html,
    /// A sitemap, or an index of sitemaps.
    Xml,
    Other,
}

impl Kind {
    pub(crate) fn of_content_type(content_type: &str) -> Self {
        match content_type.to_ascii_lowercase() {
            name if name.contains("html") => Self::Html,
            name if name.contains("xml") => Self::Xml,
            _ => Self::Other,
        }
    }
}

/// Returns the normal forms of the links of a document.
pub(crate) fn of_document(kind: Kind, page: &Url, body: &[u8]) -> Vec<Url> {
    let links = Links { base: RefCell::new((page.clone(), false)), found: RefCell::default() };
    match kind {
        Kind::Html => of_html(&links, body),
        Kind::Xml => of_sitemap(&links, body),
        Kind::Other => {}
    }
    links.found.into_inner()
}

struct Links {
    /// What links are relative to, and whether the page says so.
    base: RefCell<(Url, bool)>,
    found: RefCell<Vec<Url>>,
}

impl Links {
    fn add(&self, link: &str) {
        let url = urls::of_link(&self.base.borrow().0, &decode_html_entities(link));
        let mut found = self.found.borrow_mut();
        if found.len() < MAX_LINKS {
            found.extend(url);
        }
    }
}

fn of_html(links: &Links, body: &[u8]) {
    let on_base = |element: &mut Element<'_, '_>| {
        let (base, is_set) = &mut *links.base.borrow_mut();
        // The first one counts.
        if let Some(href) = element.get_attribute("href").filter(|_| !*is_set)
            && let Ok(url) = base.join(&decode_html_entities(&href))
        {
            (*base, *is_set) = (url, true);
        }
        Ok(())
    };
    let on_link = |element: &mut Element<'_, '_>| {
        let urls = ["href", "src"].iter().filter_map(|name| element.get_attribute(name));
        urls.for_each(|url| links.add(&url));
        Ok(())
    };
    let settings = Settings::new()
        .append_element_content_handler(element!("base[href]", on_base))
        .append_element_content_handler(element!("a[href], area[href]", on_link))
        .append_element_content_handler(element!("iframe[src], frame[src]", on_link));
    read(settings.with_strict(false), body);
}

/// Reads the `<loc>` of a sitemap.
fn of_sitemap(links: &Links, body: &[u8]) {
    let url = RefCell::new(String::new());
    let on_text = |chunk: &mut TextChunk<'_>| {
        url.borrow_mut().push_str(chunk.as_str());
        if chunk.last_in_text_node() {
            links.add(&url.take());
        }
        Ok(())
    };
    read(Settings::new().append_element_content_handler(text!("loc", on_text)), body);
}

fn read(settings: Settings<'_, '_>, body: &[u8]) {
    let mut reader = HtmlRewriter::new(settings, |_: &[u8]| ());
    // If the document cannot be read further, the links so far count.
    if reader.write(body).is_ok() {
        _ = reader.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, text: &str) -> Vec<String> {
        let page = Url::parse("http://a.example/b/").unwrap();
        of_document(kind, &page, text.as_bytes()).into_iter().map(String::from).collect()
    }

    #[test]
    fn links_of_html_are_found_relative_to_the_base() {
        let text = "<title>t</title><a href=c>1</a><A HREF='c#d'>2</A><a name=x>3</a>\
                    <!-- <a href=no> --><script>'<a href=no>'</script>\
                    <area href='/e?a=1&amp;b=2'><a href='open";
        let expected = ["b/c", "b/c", "e?a=1&b=2"].map(|path| format!("http://a.example/{path}"));
        assert_eq!(found(Kind::Html, text), expected);
        let text = "<iframe src='//f.example/'></iframe><frameset><frame src='http://g.example'>";
        assert_eq!(found(Kind::Html, text), ["http://f.example/", "http://g.example/"]);
        let text = "<base href='/g/'><base href='/h/'><a href=i>";
        assert_eq!(found(Kind::Html, text), ["http://a.example/g/i"]);
        assert_eq!(found(Kind::Other, text), [""; 0]);
        assert_eq!(found(Kind::Html, ""), [""; 0]);
    }

    #[test]
    fn pages_of_a_sitemap_are_found() {
        let text = "<?xml version=\"1.0\"?><urlset xmlns=\"x\"><url><loc> http://a.example/1?a=2&amp;b\
                    </loc><lastmod>2020</lastmod></url><url><loc>http://a.example/2</loc></url>";
        let expected = ["http://a.example/1?a=2&b", "http://a.example/2"];
        assert_eq!(found(Kind::Xml, text), expected);
    }

    #[test]
    fn kinds_are_told_by_the_content_type() {
        assert_eq!(Kind::of_content_type("Text/HTML; charset=utf-8"), Kind::Html);
        assert_eq!(Kind::of_content_type("application/xml"), Kind::Xml);
        assert_eq!(Kind::of_content_type(""), Kind::Other);
    }
}
