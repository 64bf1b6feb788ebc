//! Modules, and what stands around them.

use super::attribute::Attributes;
use super::op::Stated;
use super::reader::Reader;
use super::string::symbol;
use halite_hlo::CheckedHlo;
use halite_hlo::proto::FrontendAttributes;
use halite_support::{Cursor, Diagnostic, Diagnostics, Result, SourceFile, codes};

/// The frontend attribute of a module that has the meshes of its shardings, by the name that XLA gives it.
const MESHES: &str = "xla.sdy.meshes";

/// The first bytes of MLIR that is written as bytes.
const BYTECODE: &[u8] = b"ML\xEFR";

/// Whether bytes are MLIR that is not text, which [`read`] does not take.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(BYTECODE)
}

/// The module that a text of StableHLO means: the function `main`, or the only one that is public, with all that it calls.
///
/// ```
/// use halite_support::SourceFile;
///
/// let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
///   %0 = stablehlo.tanh %x : tensor<4xf32>
///   return %0 : tensor<4xf32>
/// }";
/// let hlo = halite_stablehlo::read(&SourceFile::new("example.mlir", text))?;
/// assert_eq!(hlo.computations.len(), 1);
/// # Ok::<(), halite_support::Diagnostics>(())
/// ```
///
/// # Errors
/// Every fault of the text that does not follow from another, at its place, up to a hundred: what is no MLIR, operations, types and
/// attributes that Halite has no form of, and operations whose types do not fit. And when the work is cancelled.
pub fn read(file: &SourceFile) -> std::result::Result<CheckedHlo, Diagnostics> {
    let mut reader = Reader::new(file.text(), file.id());
    if let Err(fault) = reader.text() {
        reader.faults.push(fault);
    }
    if !reader.faults.is_empty() {
        return Err(reader.faults);
    }
    reader.finished(file.name())
}

impl<'t> Reader<'t> {
    /// Reads the whole text.
    pub(crate) fn text(&mut self) -> Result<()> {
        self.sections()?;
        let mut has_module = false;
        while !self.cursor.is_at_end() {
            let start = self.cursor.at;
            match self.cursor.peek() {
                b'#' => self.alias()?,
                b'!' => return Err(self.type_alias()),
                _ if self.cursor.eat_word("module") || self.cursor.eat_word("builtin.module") => {
                    self.only(&mut has_module, start)?;
                    self.module()?;
                }
                b'"' if self.cursor.eat_all("\"builtin.module\"") => {
                    self.only(&mut has_module, start)?;
                    self.generic_module()?;
                }
                _ if !self.is_item() => return Err(self.cursor.unexpected("`module` or `func.func`")),
                _ => self.next_function(start)?,
            }
        }
        Ok(())
    }

    /// Whether the next word begins a function, or an operation that should be in one.
    fn is_item(&mut self) -> bool {
        self.cursor.peek() == b'"' || self.cursor.peek_word() == "func" || self.cursor.peek_word().contains('.')
    }

    fn only(&mut self, has_module: &mut bool, start: usize) -> Result<()> {
        if std::mem::replace(has_module, true) {
            return Err(self.cursor.fault((start, self.cursor.at), "a text has one module", "the second"));
        }
        Ok(())
    }

    /// Finds resources, which stand behind everything else: `{-# dialect_resources: {builtin: {name: "0x.."}} #-}`.
    fn sections(&mut self) -> Result<()> {
        let text = self.cursor;
        let Some(start) = text.slice(0, text.length()).rfind("{-#") else { return Ok(()) };
        let mut inside = text.within((start + 3, text.length()));
        while !inside.eat_all("#-}") {
            let section = inside.word()?;
            inside.expect(b':')?;
            inside.expect(b'{')?;
            while !inside.eat(b'}') {
                self.dialect_resources(&mut inside, section)?;
                inside.eat(b',');
            }
            inside.eat(b',');
        }
        self.cursor = text.within((0, start));
        Ok(())
    }

    fn dialect_resources(&mut self, inside: &mut Cursor<'t>, section: &str) -> Result<()> {
        inside.word()?;
        inside.expect(b':')?;
        inside.expect(b'{')?;
        while !inside.eat(b'}') {
            let name = if inside.peek() == b'"' { inside.raw_string()? } else { inside.word()? };
            inside.expect(b':')?;
            let start = inside.at_next() + 1;
            if inside.peek() == b'"' {
                inside.raw_string()?;
                if section == "dialect_resources" {
                    self.resources.insert(name, (start, inside.at - 1));
                }
            } else {
                inside.word()?;
            }
            inside.eat(b',');
        }
        Ok(())
    }

    /// `#name = loc(..)` or `#name = attribute`.
    fn alias(&mut self) -> Result<()> {
        let name = self.cursor.name(b'#', "a name")?;
        self.cursor.expect(b'=')?;
        if self.cursor.eat_word("loc") {
            let location = self.location_in_marks(0)?;
            self.locations.define(name, location);
            return Ok(());
        }
        let attribute = self.attribute(0)?;
        self.aliases.insert(name, attribute);
        Ok(())
    }

    fn type_alias(&mut self) -> Diagnostic {
        let place = (self.cursor.at, self.cursor.at + 1);
        Diagnostic::error(codes::FOREIGN, "names of types are not read")
            .at(self.cursor.span(place), "this name")
            .help("print the text with types written out")
    }

    /// `@name attributes {..} {..}`, from behind the word.
    fn module(&mut self) -> Result<()> {
        if self.cursor.peek() == b'@' {
            self.module.name = symbol(&mut self.cursor)?;
        }
        if self.cursor.eat_word("attributes") {
            let attributes = self.dictionary(0)?;
            self.of_module(attributes)?;
        }
        self.cursor.expect(b'{')?;
        self.functions()?;
        self.trailing_location()?;
        Ok(())
    }

    /// `() <{..}> ({..}) {..} : () -> ()`, from behind the name.
    fn generic_module(&mut self) -> Result<()> {
        let mut attributes = self.properties()?;
        self.cursor.expect(b'(')?;
        self.cursor.expect(b'{')?;
        if self.cursor.peek() == b'^' {
            self.cursor.name(b'^', "a block")?;
            self.cursor.expect(b':')?;
        }
        self.functions()?;
        self.cursor.expect(b')')?;
        if self.cursor.eat(b'{') {
            self.entries(&mut attributes, 0)?;
        }
        if let Some(name) = attributes.take("sym_name").and_then(|name| name.text()) {
            self.module.name = name;
        }
        self.cursor.expect(b':')?;
        self.signature(&mut Stated::default())?;
        self.trailing_location()?;
        self.of_module(attributes)
    }

    /// Keeps what is said of a module.
    fn of_module(&mut self, attributes: Attributes<'t>) -> Result<()> {
        let mut frontend = FrontendAttributes::default();
        for (name, attribute) in attributes.0 {
            self.claim(name, &attribute, &mut frontend)?;
        }
        self.module.frontend_attributes.get_or_insert_default().map.extend(frontend.map);
        Ok(())
    }

    /// The functions of a module up to its end.
    fn functions(&mut self) -> Result<()> {
        while !self.cursor.eat(b'}') {
            if self.cursor.is_at_end() {
                return Err(self.cursor.unexpected("`}`"));
            }
            let start = self.cursor.at;
            self.next_function(start)?;
        }
        Ok(())
    }

    /// One function. A fault in it is kept, and reading goes on behind it.
    fn next_function(&mut self, start: usize) -> Result<()> {
        match self.one_function(start) {
            Err(fault) if fault.code() == codes::CANCELLED || fault.code() == codes::LIMIT => Err(fault),
            // What follows from a text that ends early is not told.
            Err(fault) if self.cursor.is_at_end() => Err(fault),
            Err(fault) => {
                self.frames.clear();
                self.report(fault)?;
                self.recover(start);
                // A mark that closes nothing.
                self.cursor.at += usize::from(self.cursor.at == start);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn one_function(&mut self, start: usize) -> Result<()> {
        if self.cursor.eat_word("func.func") || self.cursor.eat_word("func") {
            return self.function();
        }
        if self.cursor.eat_all("\"func.func\"") {
            return self.generic_function(start);
        }
        if self.cursor.eat_word("sdy.mesh") {
            return self.mesh();
        }
        if let "module" | "builtin.module" = self.cursor.peek_word() {
            let place = (start, start + self.cursor.peek_word().len());
            return Err(self.cursor.fault(place, "a module in a module is not taken", "this one"));
        }
        if self.cursor.peek_word().contains('.') || self.cursor.peek() == b'"' {
            let name = if self.cursor.peek() == b'"' { self.cursor.raw_string()? } else { self.cursor.word()? };
            self.entry(name, (start, self.cursor.at))?;
            return Err(self.cursor.fault((start, self.cursor.at), "expected a function, found an operation", "here"));
        }
        Err(self.cursor.unexpected("`module` or `func.func`"))
    }

    /// `@name = <["x"=2]>` of Shardy, kept as XLA does.
    fn mesh(&mut self) -> Result<()> {
        let name = symbol(&mut self.cursor)?;
        self.cursor.expect(b'=')?;
        let start = self.cursor.at_next();
        self.cursor.group()?;
        let mesh = format!("{name} = #sdy.mesh{}", self.cursor.slice(start, self.cursor.at));
        // Attributes of other dialects, as where JAX says the same in the words of StableHLO.
        if self.cursor.peek() == b'{' {
            let at = self.cursor.at_next();
            let attributes = self.dictionary(0)?;
            if let Some((unread, _)) = attributes.0.iter().find(|(name, _)| !name.contains('.')) {
                let message = format!("a mesh has an attribute `{unread}` that is not read");
                return Err(self.cursor.fault((at, self.cursor.at), &message, "here"));
            }
        }
        self.trailing_location()?;
        let meshes = self.module.frontend_attributes.get_or_insert_default().map.entry(MESHES.to_owned()).or_default();
        let others = meshes.strip_prefix('{').and_then(|text| text.strip_suffix('}')).map(|text| format!("{text}, "));
        *meshes = format!("{{{}{mesh}}}", others.unwrap_or_default());
        Ok(())
    }
}
