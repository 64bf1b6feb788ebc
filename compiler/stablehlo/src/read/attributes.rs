//! Reading attributes.

use super::attribute::{Attribute, Attributes, Value};
use super::reader::{DEPTH, Reader};
use super::string::symbol;
use super::types::TypeId;
use halite_hlo::ArrayType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};

impl<'t> Reader<'t> {
    /// `{key = value, other}` if it is next.
    pub(crate) fn dictionary(&mut self, depth: usize) -> Result<Attributes<'t>> {
        let mut attributes = Attributes::default();
        if !self.cursor.eat(b'{') {
            return Ok(attributes);
        }
        self.entries(&mut attributes, depth)?;
        Ok(attributes)
    }

    /// `() <{key = value}>`: that an operation has no operands, and its properties, where it has any.
    pub(crate) fn properties(&mut self) -> Result<Attributes<'t>> {
        let mut attributes = Attributes::default();
        self.cursor.expect(b'(')?;
        self.cursor.expect(b')')?;
        if self.cursor.eat_all("<{") {
            self.entries(&mut attributes, 0)?;
            self.cursor.expect(b'>')?;
        }
        Ok(attributes)
    }

    /// `key = value, other}`: the entries of a dictionary that is open, and its end.
    pub(crate) fn entries(&mut self, attributes: &mut Attributes<'t>, depth: usize) -> Result<()> {
        if self.cursor.eat(b'}') {
            return Ok(());
        }
        loop {
            let start = self.cursor.at_next();
            let name = match self.cursor.peek() {
                b'"' => self.cursor.raw_string()?,
                _ => self.cursor.word()?,
            };
            let attribute = match self.cursor.eat(b'=') {
                true => self.attribute(depth + 1)?,
                false => Attribute { value: Value::Unit, place: (start, self.cursor.at) },
            };
            attributes.push(name, attribute);
            if self.cursor.eat(b'}') {
                return Ok(());
            }
            if !self.cursor.eat(b',') {
                return Err(self.cursor.unexpected("`,` or `}`"));
            }
        }
    }

    /// The attribute that is next.
    pub(crate) fn attribute(&mut self, depth: usize) -> Result<Attribute<'t>> {
        let start = self.cursor.at_next();
        if depth > DEPTH {
            return Err(self.too_deep(start));
        }
        let value = match self.cursor.peek() {
            b'"' => Value::Text(self.cursor.raw_string()?),
            b'[' => self.attributes_in_list(depth)?,
            b'{' => Value::Dictionary(self.dictionary(depth)?),
            b'@' => self.symbols()?,
            b'#' => self.dialect()?,
            b'-' | b'0'..=b'9' => self.number()?,
            b'!' | b'(' => self.other()?,
            _ => self.worded()?,
        };
        Ok(Attribute { value, place: (start, self.cursor.at) })
    }

    fn attributes_in_list(&mut self, depth: usize) -> Result<Value<'t>> {
        self.cursor.expect(b'[')?;
        let mut list = Vec::new();
        if self.cursor.eat(b']') {
            return Ok(Value::List(list));
        }
        loop {
            list.push(self.attribute(depth + 1)?);
            if self.cursor.eat(b']') {
                return Ok(Value::List(list));
            }
            if !self.cursor.eat(b',') {
                return Err(self.cursor.unexpected("`,` or `]`"));
            }
        }
    }

    /// `@name`, or the last of `@outer::@name`.
    fn symbols(&mut self) -> Result<Value<'t>> {
        let mut name = symbol(&mut self.cursor)?;
        while self.cursor.eat_all("::") {
            name = symbol(&mut self.cursor)?;
        }
        Ok(Value::Symbol(name))
    }

    /// `#stablehlo.gather<..>`, or another name for an attribute that was written before.
    fn dialect(&mut self) -> Result<Value<'t>> {
        let start = self.cursor.at;
        let name = self.cursor.name(b'#', "an attribute")?;
        if self.cursor.peek() == b'<' {
            return Ok(Value::Dialect(name, self.cursor.group()?));
        }
        if let Some(known) = self.aliases.get(name) {
            return Ok(known.value.clone());
        }
        let place = self.cursor.span((start, self.cursor.at));
        let message = format!("no attribute has the name `#{name}`");
        Err(Diagnostic::error(codes::UNDEFINED_VALUE, message).at(place, "this name"))
    }

    fn number(&mut self) -> Result<Value<'t>> {
        let mut ahead = self.cursor;
        let start = ahead.at_next();
        let text = self.cursor.slice(start, start + 32);
        let length = text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)));
        let text = text.get(..length.unwrap_or(text.len())).unwrap_or_default();
        let is_float = !text.starts_with("0x") && text.bytes().any(|byte| b".eE".contains(&byte));
        let value = match is_float {
            true => {
                self.cursor.at = start + text.len();
                Value::Float(text)
            }
            false => Value::Int(self.cursor.integer()?),
        };
        self.suffix()?;
        Ok(value)
    }

    /// ` : i64` behind a number.
    fn suffix(&mut self) -> Result<()> {
        if self.cursor.eat(b':') { self.other().map(drop) } else { Ok(()) }
    }

    /// An attribute that begins with a word.
    fn worded(&mut self) -> Result<Value<'t>> {
        match self.cursor.peek_word() {
            "" => Err(self.cursor.unexpected("an attribute")),
            "true" => self.word_as(Value::Bool(true)),
            "false" => self.word_as(Value::Bool(false)),
            "unit" => self.word_as(Value::Unit),
            "array" => self.array(),
            "dense" => {
                self.cursor.word()?;
                let body = self.cursor.group()?;
                self.cursor.expect(b':')?;
                Ok(Value::Dense(body, self.element_type()?))
            }
            "dense_resource" => {
                self.cursor.word()?;
                let (start, end) = self.cursor.group()?;
                self.cursor.expect(b':')?;
                Ok(Value::Resource(self.cursor.slice(start, end), self.element_type()?))
            }
            _ => self.other(),
        }
    }

    fn word_as(&mut self, value: Value<'t>) -> Result<Value<'t>> {
        self.cursor.word().map(|_| value)
    }

    /// The type of elements. Positions of layouts are of the type `index`, and read as whole numbers.
    fn element_type(&mut self) -> Result<TypeId> {
        let mut ahead = self.cursor;
        if ahead.eat_word("tensor")
            && let Ok((start, end)) = ahead.group()
            && let Some(sizes) = self.cursor.slice(start, end).strip_suffix("index")
        {
            self.cursor = ahead;
            let sizes = sizes.split('x').filter(|size| !size.is_empty()).map(str::parse);
            let shape: std::result::Result<Shape, _> = sizes.collect();
            return Ok(self.types.of(ArrayType { dtype: DType::S64, shape: shape.unwrap_or_default() }));
        }
        self.types.read(&mut self.cursor)
    }

    /// `array<i64: 1, 2>`; truth values are 0 and 1.
    fn array(&mut self) -> Result<Value<'t>> {
        self.cursor.word()?;
        self.cursor.expect(b'<')?;
        self.cursor.word()?;
        let mut numbers = Vec::new();
        if self.cursor.eat(b'>') {
            return Ok(Value::Ints(numbers));
        }
        self.cursor.expect(b':')?;
        loop {
            numbers.push(match self.cursor.peek_word() {
                "true" | "false" => i64::from(self.cursor.word()? == "true"),
                _ => self.cursor.integer()?,
            });
            if self.cursor.eat(b'>') {
                return Ok(Value::Ints(numbers));
            }
            self.cursor.expect(b',')?;
        }
    }

    /// A type or word, with what it has in marks, as it is written.
    fn other(&mut self) -> Result<Value<'t>> {
        let start = self.cursor.at_next();
        match self.cursor.peek() {
            b'!' => drop(self.cursor.name(b'!', "a type")?),
            b'(' => {
                self.cursor.group()?;
                self.cursor.expect_all("->")?;
                return self.results_of_type(start);
            }
            _ => drop(self.cursor.word()?),
        }
        let end = self.cursor.at;
        if matches!(self.cursor.peek(), b'<' | b'(') {
            self.cursor.group()?;
            return Ok(Value::Other(self.cursor.slice(start, self.cursor.at)));
        }
        Ok(Value::Other(self.cursor.slice(start, end)))
    }

    /// The rest of a type of functions.
    fn results_of_type(&mut self, start: usize) -> Result<Value<'t>> {
        match self.cursor.peek() {
            b'(' => drop(self.cursor.group()?),
            _ => drop(self.other()?),
        }
        Ok(Value::Other(self.cursor.slice(start, self.cursor.at)))
    }

    /// The fault of what nests too deeply.
    pub(crate) fn too_deep(&self, start: usize) -> Diagnostic {
        let message = format!("the text nests more than {DEPTH} deep");
        Diagnostic::error(codes::LIMIT, message).at(self.cursor.span((start, start + 1)), "here")
    }
}
