//! The name of a filter in its address: the part behind the '#', in which any byte may be written
//! as '%' and two digits.

/// Returns the name that is meant. Two spellings of a name are one name.
pub(super) fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| digit.and_then(hex));
                let [Some(high), Some(low)] = digits else {
                    return Err("a '%' in a name is written as %25".into());
                };
                16 * high + low
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| "the name is not in UTF-8".into())
}

/// Returns the one spelling of a name that is shown.
pub(super) fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || c.is_whitespace() || "%#@".contains(c) {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).bytes();
            bytes.for_each(|byte| text.push_str(&format!("%{byte:02X}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| digit.try_into().ok())
}
