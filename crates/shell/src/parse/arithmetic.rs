//! Arithmetic: `$(( ))`, `(( ))` and the head of `for (( ; ; ))`. Only its expansions are read here.

use super::{Parser, Read};
use crate::MAX_DEPTH;
use crate::syntax::{Arithmetic, Part};

impl<'a> Parser<'a> {
    /// Reads up to `))`, which is read too.
    pub(super) fn arithmetic(&mut self, start: usize) -> Read<Arithmetic<'a>> {
        let parts = self.expression(start, false)?;
        if !self.starts(b"))") {
            return self.refuse(start, "`((` that is not closed by `))`");
        }
        self.at += 2;
        Ok(Arithmetic { parts, span: self.span(start) })
    }

    /// Reads an expression up to a `)` that closes nothing in it, or, in the head of a loop, to a `;`.
    pub(super) fn expression(&mut self, start: usize, semicolons: bool) -> Read<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            let from = self.at;
            self.node(1)?;
            match self.peek() {
                b')' if open == 0 => return Ok(parts),
                b';' if semicolons && open == 0 => return Ok(parts),
                b'$' => parts.push(self.dollar(true)?),
                b'`' => parts.push(self.backticks()?),
                b'"' => parts.push(self.double()?),
                b'[' => {
                    return self.refuse(start, "arithmetic with a subscript, which the shell would evaluate");
                }
                0 => return self.refuse(start, "arithmetic without its end"),
                b'\'' | b'\\' | b'{' | b'}' | b';' | b']' | b'@' => {
                    return self.refuse(from, "a character in arithmetic that is not modelled");
                }
                _ => {
                    while let Some(&byte) = self.bytes.get(self.at) {
                        match byte {
                            b'(' if open >= MAX_DEPTH => {
                                return self.refuse(from, format!("nested more than {MAX_DEPTH} deep"));
                            }
                            b'(' => open += 1,
                            b')' if open > 0 => open -= 1,
                            b'#' if self.at == from
                                || !self.bytes.get(self.at - 1).is_some_and(u8::is_ascii_digit) =>
                            {
                                return self.refuse(from, "`#` in arithmetic");
                            }
                            _ if byte.is_ascii_alphanumeric()
                                || b" \t\n+-*/%<>=!&|^~?:,_#.".contains(&byte) => {}
                            _ => break,
                        }
                        self.at += 1;
                    }
                    if self.at == from {
                        return self.refuse(from, "a character in arithmetic that is not modelled");
                    }
                    if !self.pending.is_empty() && self.slice(from, self.at).contains('\n') {
                        return self.refuse(from, "a newline in arithmetic before a here-document's body");
                    }
                    parts.push(Part::Quoted(self.slice(from, self.at)));
                }
            }
        }
    }
}
