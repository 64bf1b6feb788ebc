//! Functions.

use super::attribute::{Attributes, Value};
use super::body::{Frame, Place, Takes, Val};
use super::op::Stated;
use super::reader::Reader;
use super::signature::{Argument, Signature};
use super::string::symbol;
use halite_support::{Diagnostic, Result, codes};

impl<'t> Reader<'t> {
    /// `func.func public @name(%a: type {..}, ..) -> (type {..}, ..) attributes {..} {..}`, from behind the first word.
    pub(crate) fn function(&mut self) -> Result<()> {
        let mut is_private = false;
        for word in ["public", "private", "nested"] {
            is_private |= self.cursor.eat_word(word) && word == "private";
        }
        let start = self.cursor.at_next();
        let name = symbol(&mut self.cursor)?;
        let place = (start, self.cursor.at);
        let mut signature = Signature::default();
        self.cursor.expect(b'(')?;
        self.function_arguments(&mut signature)?;
        if self.cursor.eat_all("->") {
            self.function_results(&mut signature)?;
        }
        if self.cursor.eat_word("attributes") {
            self.dictionary(0)?;
        }
        if self.cursor.peek() != b'{' {
            return Err(self.external(&name, place));
        }
        self.cursor.expect(b'{')?;
        self.function_body(name, is_private, (place, signature))?;
        self.cursor.expect(b'}')?;
        self.trailing_location()?;
        Ok(())
    }

    fn external(&self, name: &str, place: (usize, usize)) -> Diagnostic {
        Diagnostic::error(codes::FOREIGN, format!("the function `{name}` has no body"))
            .at(self.cursor.span(place), "this function")
            .help("link the program with what it calls before it is exported")
    }

    fn function_arguments(&mut self, signature: &mut Signature<'t>) -> Result<()> {
        if self.cursor.eat(b')') {
            return Ok(());
        }
        loop {
            let name = if self.cursor.peek() == b'%' { self.cursor.name(b'%', "an argument")? } else { "" };
            if !name.is_empty() {
                self.cursor.expect(b':')?;
            }
            let ty = self.types.read(&mut self.cursor)?;
            let attributes = self.dictionary(0)?;
            let location = self.trailing_location()?;
            signature.arguments.push(Argument { name, ty, attributes, location });
            if self.cursor.eat(b')') {
                return Ok(());
            }
            self.cursor.expect(b',')?;
        }
    }

    fn function_results(&mut self, signature: &mut Signature<'t>) -> Result<()> {
        if !self.cursor.eat(b'(') {
            signature.types.push(self.types.read(&mut self.cursor)?);
            signature.results.push(Attributes::default());
            return Ok(());
        }
        if self.cursor.eat(b')') {
            return Ok(());
        }
        loop {
            signature.types.push(self.types.read(&mut self.cursor)?);
            let attributes = self.dictionary(0)?;
            signature.results.push(attributes);
            if self.cursor.eat(b')') {
                return Ok(());
            }
            self.cursor.expect(b',')?;
        }
    }

    /// The operations of a function whose block is open.
    fn function_body(
        &mut self,
        name: String,
        is_private: bool,
        (place, mut signature): ((usize, usize), Signature<'t>),
    ) -> Result<()> {
        let number = self.program.of_name(&name, place);
        if self.program.bodies[number].is_some() {
            let message = format!("two functions have the name `{name}`");
            return Err(Diagnostic::error(codes::DUPLICATE, message).at(self.cursor.span(place), "the second"));
        }
        let whole = Place::new(place.0, place.1);
        let mut frame = Frame::new(Takes::Each);
        for argument in &signature.arguments {
            let given = self.locations.name(argument.location);
            let named = given.unwrap_or_else(|| argument.name.to_owned());
            let inst = frame.body.parameter(named, self.types.shape(argument.ty), whole);
            frame.define(argument.name, std::iter::once(Some(Val { inst, ty: argument.ty })));
        }
        for (number, argument) in signature.arguments.iter().enumerate() {
            let frontend = self.claims(&argument.attributes)?;
            frame.body.inst(number as u32).frontend_attributes = frontend.map(Box::new);
        }
        self.frames = vec![frame];
        let returned = self.block(0)?;
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if let Some(returned) = returned {
            if !returned.iter().map(|value| value.ty).eq(signature.types.iter().copied()) {
                let message = format!("the function `{name}` returns other types than it states");
                return Err(
                    Diagnostic::error(codes::TYPE_MISMATCH, message).at(self.cursor.span(place), "this function")
                );
            }
            signature.returned = returned;
        }
        self.program.bodies[number] = Some(frame.body.shrunk());
        self.signatures.insert(number, signature);
        if let Some(function) = self.program.functions.get_mut(&number) {
            (function.is_private, function.place) = (is_private, place);
        }
        Ok(())
    }

    /// `"func.func"() <{..}> ({ ^bb0(%a: type): .. }) : () -> ()`, from behind the name.
    pub(crate) fn generic_function(&mut self, start: usize) -> Result<()> {
        let mut attributes = self.properties()?;
        if attributes.is_empty() {
            let message = "a function whose name stands behind its body is not read";
            let fault =
                Diagnostic::error(codes::FOREIGN, message).at(self.cursor.span((start, self.cursor.at)), "here");
            return Err(fault.help("print the text by a newer version of MLIR, which writes `<{sym_name = ..}>` first"));
        }
        let place = (start, self.cursor.at);
        let name = attributes.take("sym_name").and_then(|name| name.text());
        let name = name.ok_or_else(|| self.cursor.fault(place, "a function has no name", "this one"))?;
        let is_private = attributes.take("sym_visibility").and_then(|word| word.text()).as_deref() == Some("private");
        let mut signature = Signature::default();
        self.stated_results(&mut attributes, &mut signature, place)?;
        self.cursor.expect(b'(')?;
        self.cursor.expect(b'{')?;
        if self.cursor.peek() == b'^' {
            self.cursor.name(b'^', "a block")?;
            if self.cursor.eat(b'(') {
                self.function_arguments(&mut signature)?;
            }
            self.cursor.expect(b':')?;
        }
        self.own_attributes(&mut attributes, &mut signature);
        self.function_body(name, is_private, (place, signature))?;
        self.cursor.expect(b'}')?;
        self.cursor.expect(b')')?;
        self.dictionary(0)?;
        self.cursor.expect(b':')?;
        self.signature(&mut Stated::default())?;
        self.trailing_location()?;
        Ok(())
    }

    /// The types of results, from the type of the function.
    fn stated_results(
        &mut self,
        attributes: &mut Attributes<'t>,
        signature: &mut Signature<'t>,
        place: (usize, usize),
    ) -> Result<()> {
        let ty = attributes.take("function_type");
        let ty = ty.ok_or_else(|| self.cursor.fault(place, "a function has no type", "this one"))?;
        let back = self.cursor;
        self.cursor = back.within(ty.place);
        let mut stated = Stated::default();
        let read = self.signature(&mut stated);
        self.cursor = back;
        read?;
        signature.types = stated.results.unwrap_or_default();
        signature.results = signature.types.iter().map(|_| Attributes::default()).collect();
        Ok(())
    }

    /// The attributes of arguments and results, from the lists of the function.
    fn own_attributes(&mut self, attributes: &mut Attributes<'t>, signature: &mut Signature<'t>) {
        let arguments = signature.arguments.iter_mut().map(|argument| &mut argument.attributes);
        let own = [("arg_attrs", arguments.collect::<Vec<_>>()), ("res_attrs", signature.results.iter_mut().collect())];
        for (name, places) in own {
            let Some(Value::List(list)) = attributes.take(name).map(|list| list.value) else { continue };
            for (into, entry) in places.into_iter().zip(list) {
                if let Value::Dictionary(entries) = entry.value {
                    *into = entries;
                }
            }
        }
    }
}
