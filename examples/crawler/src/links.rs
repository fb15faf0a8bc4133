//! Finds the links of a page, or the pages of a sitemap.

use core::cell::RefCell;
use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use html_escape::decode_html_entities;
use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, Settings, element};
use quick_xml::{Reader, events::Event};
use url::Url;

use crate::urls;

/// The most links that are taken from one page.
const MAX_LINKS: usize = 50_000;

/// The bytes of all URLs that are made from the links of one page: what a short base and as many
/// links come to. A long base for many short links would cost minutes.
const MAX_MADE: usize = 64 << 20;

/// The bytes of a compressed sitemap that are unpacked: as many as a sitemap may have.
const MAX_UNPACKED: u64 = 50 << 20;

/// What has a link.
const SELECTOR: &str = "a[href], area[href], iframe[src], frame[src]";

/// Returns the normal forms of the links of a document: of HTML, of a sitemap, or of an index of
/// sitemaps. The `content_type` is in lower case.
pub(crate) fn of_document(content_type: &str, page: &Url, body: &[u8]) -> Vec<Url> {
    let mut links = Links { base: page.clone(), has_base: false, found: Vec::new(), made: 0 };
    if content_type.contains("html") {
        of_html(&mut links, body);
    } else if !content_type.contains("xml") && !page.path().ends_with(".xml.gz") {
        // A document of another kind.
    } else if body.starts_with(&[0x1F, 0x8B]) {
        // So begins what gzip has compressed.
        let unpacked = MultiGzDecoder::new(body).take(MAX_UNPACKED);
        of_sitemap(&mut links, BufReader::new(unpacked));
    } else {
        of_sitemap(&mut links, body);
    }
    links.found
}

struct Links {
    /// What links are relative to, and whether the page says so.
    base: Url,
    has_base: bool,
    found: Vec<Url>,
    /// The bytes of all links so far, each with its base.
    made: usize,
}

impl Links {
    fn add(&mut self, link: &str) {
        self.made += self.base.as_str().len() + link.len();
        if self.found.len() < MAX_LINKS
            && self.made <= MAX_MADE
            && let Ok(url) = self.base.join(link)
        {
            self.found.extend(urls::normal(&url));
        }
    }
}

fn of_html(links: &mut Links, body: &[u8]) {
    let links = RefCell::new(links);
    let on_base = |element: &mut Element<'_, '_>| {
        let mut links = links.borrow_mut();
        // The first one counts.
        if let Some(href) = element.get_attribute("href").filter(|_| !links.has_base)
            && let Ok(url) = links.base.join(&decode_html_entities(&href))
        {
            (links.base, links.has_base) = (url, true);
        }
        Ok(())
    };
    let on_link = |element: &mut Element<'_, '_>| {
        let urls = ["href", "src"].iter().filter_map(|name| element.get_attribute(name));
        urls.for_each(|url| links.borrow_mut().add(&decode_html_entities(&url)));
        Ok(())
    };
    let settings = Settings::new()
        .append_element_content_handler(element!("base[href]", on_base))
        .append_element_content_handler(element!(SELECTOR, on_link));
    let mut reader = HtmlRewriter::new(settings.with_strict(false), |_: &[u8]| ());
    // If the document cannot be read further, the links so far count.
    if reader.write(body).is_ok() {
        _ = reader.end();
    }
}

/// Reads the `<loc>` of a sitemap.
fn of_sitemap(links: &mut Links, body: impl BufRead) {
    let mut reader = Reader::from_reader(body);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends) = (false, true);
    config.allow_dangling_amp = true;
    let (mut buffer, mut loc) = (Vec::new(), None::<String>);
    // Likewise.
    while let Ok(event) = reader.read_event_into(&mut buffer) {
        match (event, &mut loc) {
            (Event::Eof, _) => break,
            (Event::Start(tag), _) => loc = (tag.name().as_ref() == "loc").then(String::new),
            (Event::End(_), _) => loc.take().into_iter().for_each(|url| links.add(&url)),
            (Event::Text(text), Some(url)) => url.push_str(&text),
            (Event::CData(text), Some(url)) => url.push_str(&text),
            (Event::GeneralRef(name), Some(url)) => {
                url.push_str(&decode_html_entities(&format!("&{};", &*name)));
            }
            _ => {}
        }
        buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const HTML: &str = "text/html; charset=utf-8";
    const XML: &str = "application/xml";

    fn of_bytes(content_type: &str, page: &str, body: &[u8]) -> Vec<String> {
        let page = Url::parse(page).unwrap();
        of_document(content_type, &page, body).into_iter().map(String::from).collect()
    }

    fn found(content_type: &str, text: &str) -> Vec<String> {
        of_bytes(content_type, "http://a.example/b/", text.as_bytes())
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn links_of_html_are_found_relative_to_the_base() {
        let text = "<title>t</title><a href=c>1</a><A HREF='c#d'>2</A><a name=x>3</a>\
                    <!-- <a href=no> --><script>'<a href=no>'</script>\
                    <area href='/e?a=1&amp;b=2'><a href='open";
        let expected = ["b/c", "b/c", "e?a=1&b=2"].map(|path| format!("http://a.example/{path}"));
        assert_eq!(found(HTML, text), expected);
        let text = "<iframe src='//f.example/'></iframe><frameset><frame src='http://g.example'>";
        assert_eq!(found(HTML, text), ["http://f.example/", "http://g.example/"]);
        let text = "<base href='/g/'><base href='/h/'><a href=i>";
        assert_eq!(found(HTML, text), ["http://a.example/g/i"]);
        assert_eq!(found("text/plain", text), [""; 0]);
        assert_eq!(found("", text), [""; 0]);
        assert_eq!(found(HTML, ""), [""; 0]);
    }

    /// Otherwise a page of 4 MiB takes minutes.
    #[test]
    fn a_long_base_is_joined_with_few_links() {
        let page = |base: usize| {
            let base = format!("<base href='http://a.example/{}/'>", "b".repeat(base));
            found(HTML, &(base + &"<a href=x>".repeat(90_000))).len()
        };
        assert_eq!((page(10), page(1 << 20)), (MAX_LINKS, 0));
        assert_eq!(page(4000), MAX_MADE / (4000 + "http://a.example//x".len()));
    }

    #[test]
    fn pages_of_a_sitemap_are_found() {
        let text = "<?xml version=\"1.0\"?><urlset xmlns=\"x\"><url><loc> http://a.example/1?a=2&amp;b\
                    </loc><lastmod>2020</lastmod></url><url><loc>http://a.example/2</loc></url>";
        let expected = ["http://a.example/1?a=2&b", "http://a.example/2"];
        assert_eq!(found(XML, text), expected);
        // Text of several kinds in one URL, and what is no URL of a page.
        let text = "<urlset><url><loc><![CDATA[http://a.example/1?a=2&b]]></loc></url>\
                    <url><loc>http://a.example/<!-- no -->2<![CDATA[?c]]>&#61;&#x33;</loc></url>\
                    <image:image><image:loc>http://a.example/no</image:loc></image:image></urlset>";
        assert_eq!(found(XML, text), ["http://a.example/1?a=2&b", "http://a.example/2?c=3"]);
        let text = "<sitemapindex><sitemap><loc>http://a.example/1.xml.gz</loc></sitemap>";
        assert_eq!(found("text/xml", text), ["http://a.example/1.xml.gz"]);
    }

    /// Up to a mistake from which a reader cannot go on, all pages count.
    #[test]
    fn the_mistakes_of_a_sitemap_lose_only_what_is_behind_them() {
        let first = "<urlset><url><loc>http://a.example/1?a&b</loc></url>";
        let second = "<url><loc>http://a.example/2</loc></url>";
        for (mistake, count) in
            [("", 2), ("</url>", 2), ("<a></b>", 2), ("<a", 2), ("<![CDATA[", 1), ("&", 2)]
        {
            let pages = found(XML, &[first, mistake, second].concat());
            assert_eq!(pages.len(), count, "{mistake}: {pages:?}");
            assert_eq!(pages[0], "http://a.example/1?a&b");
        }
        let not_text = [first.as_bytes(), b"\xFF", second.as_bytes()].concat();
        assert_eq!(of_bytes(XML, "http://a.example/", &not_text)[0], "http://a.example/1?a&b");
    }

    #[test]
    fn a_compressed_sitemap_is_read_whatever_its_type() {
        let page = "http://a.example/sitemap.xml.gz";
        let text = b"<urlset><url><loc>http://a.example/1</loc></url></urlset>";
        let body = packed(text);
        for content_type in ["application/x-gzip", "application/octet-stream", XML] {
            assert_eq!(of_bytes(content_type, page, &body), ["http://a.example/1"]);
        }
        // Also if the server has unpacked it, or has packed what is not named so.
        assert_eq!(of_bytes("", page, text), ["http://a.example/1"]);
        assert_eq!(of_bytes(XML, "http://a.example/map", &body), ["http://a.example/1"]);
        // Several members are one file. Other packed files are not sitemaps.
        let (first, last) = text.split_at(30);
        let members = [packed(first), packed(last)].concat();
        assert_eq!(of_bytes("", page, &members), ["http://a.example/1"]);
        assert_eq!(of_bytes("application/gzip", "http://a.example/1.tar.gz", &body), [""; 0]);
        // A part of a body, such as its first 4 MiB, and one that is damaged.
        assert_eq!(of_bytes("", page, &body[..body.len() - 9]), ["http://a.example/1"]);
        assert_eq!(of_bytes("", page, &body[..5]), [""; 0]);
    }

    /// A small body that unpacks to more than [`MAX_UNPACKED`]: what is behind is not read.
    #[test]
    fn a_bomb_is_unpacked_up_to_a_bound() {
        let loc = "<url><loc>http://a.example/1</loc></url>";
        let spaces = |bytes: u64| " ".repeat(usize::try_from(bytes).unwrap());
        // The last link is whole, or has no end.
        let bodies = [0, "</loc></url>".len() as u64 + 1].map(|more| {
            let space = spaces(MAX_UNPACKED - 2 * loc.len() as u64 + more);
            packed([loc, &space, loc].concat().as_bytes())
        });
        assert!(bodies[1].len() < 1 << 20);
        let counts = bodies.map(|body| of_bytes("", "http://a.example/1.xml.gz", &body).len());
        assert_eq!(counts, [2, 1]);
        let many = "<loc>x</loc>".repeat(MAX_LINKS + 1);
        assert_eq!(found(XML, &many).len(), MAX_LINKS);
    }
}
