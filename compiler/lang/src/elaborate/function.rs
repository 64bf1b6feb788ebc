//! Calls of a model's functions, and statements.

use super::{Declaration, Elaborator, Eval, Locals, Reported};
use crate::ast::{Argument, Assign, Call, Expr, For, Function, Given, If, Over, Param, Statement, Type};
use crate::ops::{self, Named, Place, Sizes, Value, Weight, initial};
use crate::resolve::{Callable, misfits};
use halite_ir::{LocKind, TensorType};
use halite_support::{Diagnostics, Name, Span, codes};
use halite_tensor::Init;

impl<'m> Elaborator<'_, 'm> {
    /// A call of a model function, a builtin or a composite, inside its scope if it names one.
    pub(super) fn call(&mut self, call: &Call, expr: &Expr, locals: &Locals) -> Eval<Vec<Value>> {
        let program = self.program();
        let (name, function) = self.called(call, locals)?;
        let value = |cx: &mut Self, given: &Given| match function {
            Some(_) => cx.handed(&given.value, locals),
            None => cx.expr(&given.value, locals),
        };
        let values: Vec<Eval<Value>> = call.given.iter().map(|given| value(self, given)).collect();
        let scope = self.scope(call, locals)?;
        let outer = self.ops.b.loc();
        if function.is_some() {
            self.ops.b.enter(LocKind::Source(expr.span));
        }
        if let Some(scope) = &scope {
            self.ops.b.enter_scope(scope.clone());
            self.frame.scopes.push(scope.clone());
        }
        let results = self.nested(expr.span, |cx| match function {
            _ if program.refused.contains(&call.function.span) => Err(Reported),
            Some(function) => cx.call_function(function, call, values, expr.span),
            None => cx.call_op(&name, call, values, expr),
        });
        if scope.is_some() {
            self.frame.scopes.pop();
        }
        self.ops.b.set_loc(outer);
        results
    }

    /// The function that is called: the one that the call names, or the one that this name holds. An op has no [`Callable`].
    fn called(&mut self, call: &Call, locals: &Locals) -> Eval<(Name, Option<Callable<'m>>)> {
        let program = self.program();
        let name = &call.function.name;
        let seen = program.functions.get(&**name).copied();
        if !program.values.contains(&call.function.span) {
            return Ok((name.clone(), seen));
        }
        let (held, function) = match locals.get(name).cloned().or_else(|| self.global(name)).unwrap_or(Err(Reported))? {
            Value::Function(held, home) => {
                let function = self.programs[home].functions.get(&*held).copied();
                (held, function)
            }
            _ if seen.is_some() || ops::is_op(name, self.ops.b.registry()) => (name.clone(), seen),
            other => {
                let error = self.ops.wrong_kind("a function", &other, Place::whole(&call.function.span));
                return Err(self.report(error));
            }
        };
        let misfits = function.map_or_else(Diagnostics::new, |callable| misfits(call, callable.function, true));
        if misfits.is_empty() {
            return Ok((held, function));
        }
        misfits.into_iter().for_each(|error| _ = self.report(error));
        Err(Reported)
    }

    /// A call of something that is not a function of the model. Unknown names are reported by `resolve`.
    fn call_op(&mut self, name: &Name, call: &Call, values: Vec<Eval<Value>>, expr: &Expr) -> Eval<Vec<Value>> {
        let values = values.into_iter().collect::<Eval<Vec<Value>>>()?;
        let given = call.given.iter().zip(values);
        let given = given
            .map(|(given, value)| ops::Given { name: given.name.as_ref().map(|keyword| keyword.name.clone()), value })
            .collect();
        let parts = call.given.iter().map(|given| &given.value).collect();
        self.operate(expr.span, Some(call), parts, |ops, spans| ops.call(name, given, spans))
    }

    /// The arguments of a call by name; `resolve` has checked the signature.
    pub(super) fn bind(&mut self, function: &Function, call: &Call, values: Vec<Eval<Value>>) -> Locals {
        let mut locals = Locals::new();
        let mut given: Vec<Option<Eval<Value>>> = vec![None; function.arguments.len()];
        for (at, (argument, value)) in call.given.iter().zip(values).enumerate() {
            let position = match &argument.name {
                None => Some(at),
                Some(keyword) => function.position(&keyword.name),
            };
            if let Some(slot) = position.and_then(|at| given.get_mut(at)) {
                *slot = Some(value);
            }
        }
        for (argument, value) in function.arguments.iter().zip(given) {
            let value = match (value, &argument.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.expr(default, &locals),
                (None, None) => Err(Reported),
            };
            let value = self.annotated(argument, value, &locals);
            locals.insert(argument.name.name.clone(), value);
        }
        locals
    }

    pub(super) fn body(&mut self, function: &Function, locals: &mut Locals) -> Eval<Vec<Value>> {
        self.statements(&function.body, locals)?;
        self.step(function.returns)?;
        match function.results.as_slice() {
            [one] => self.expr_all(one, locals),
            several => self.handed_all(several, locals),
        }
    }

    /// Fails only when the model runs too long; other mistakes bind poisoned names.
    fn statements(&mut self, statements: &[Statement], locals: &mut Locals) -> Eval<()> {
        for statement in statements {
            match statement {
                Statement::Assign(assign) => {
                    self.step(assign.value.span)?;
                    self.assign(assign, locals);
                }
                Statement::Param(param) => {
                    self.step(param.name.span)?;
                    let value = self.param(param, locals);
                    locals.insert(param.name.name.clone(), value);
                }
                Statement::For(each) => self.repeat(each, locals)?,
                Statement::If(branch) => self.branch(branch, locals)?,
                Statement::Output(names) => {
                    for name in names {
                        self.output(&name.name, name.span, locals);
                    }
                }
                Statement::Metric(metric) => _ = self.metric(metric, locals),
                Statement::Loss(loss) => _ = self.added_loss(loss, locals),
            }
        }
        Ok(())
    }

    fn assign(&mut self, assign: &Assign, locals: &mut Locals) {
        let values = self.expr_all(&assign.value, locals).and_then(|values| {
            if values.len() == assign.targets.len() {
                return Ok(values);
            }
            let (names, found) = (assign.targets.len(), values.len());
            let message = format!("{names} names are given {found} values");
            Err(self.error(codes::KIND, message, assign.value.span, format!("{found} values")))
        });
        for (position, target) in assign.targets.iter().enumerate() {
            let value = values.as_ref().map(|values| values[position].clone()).map_err(|reported| *reported);
            if let Ok(Value::Tensor(tensor)) = value
                && self.ops.b.function().values[tensor.index()].hint.is_none()
            {
                self.ops.b.name_value(tensor, target.name.clone());
            }
            locals.insert(target.name.clone(), value);
        }
    }

    fn repeat(&mut self, each: &For, locals: &mut Locals) -> Eval<()> {
        match &each.over {
            Over::Range(from, to) => {
                let (from, to) = (self.int(from, locals), self.int(to, locals));
                let (Ok(from), Ok(to)) = (from, to) else { return Ok(()) };
                (from..to).try_for_each(|counter| self.pass(each, Value::int(counter), locals))
            }
            Over::List(over) => match self.expr(over, locals) {
                Ok(Value::List(list)) => list.items.iter().try_for_each(|item| self.pass(each, item.clone(), locals)),
                Ok(other) => {
                    self.wrong_kind("a list, or a range as `0..4`", &other, over);
                    Ok(())
                }
                Err(Reported) => Ok(()),
            },
        }
    }

    /// One pass through the body of a loop. What it defines anew is not there after it.
    fn pass(&mut self, each: &For, value: Value, locals: &mut Locals) -> Eval<()> {
        self.step(each.variable.span)?;
        let outside = locals.len();
        locals.insert(each.variable.name.clone(), Ok(value));
        self.statements(&each.body, locals)?;
        locals.truncate(outside);
        Ok(())
    }

    /// Runs the body that the conditions pick. What all bodies define is there after it.
    fn branch(&mut self, branch: &If, locals: &mut Locals) -> Eval<()> {
        let outside = locals.len();
        let mut chosen = Some(&branch.otherwise);
        for (condition, body) in &branch.arms {
            self.step(condition.span)?;
            match self.condition(condition, locals) {
                Ok(true) => chosen = Some(body),
                Ok(false) => continue,
                Err(Reported) => chosen = None,
            }
            break;
        }
        if let Some(body) = chosen {
            self.statements(body, locals)?;
        }
        let mut inside = locals.split_off(outside);
        for name in &branch.defined {
            let value = inside.swap_remove(name);
            // Without a body to run, what it would have defined depends on the mistake.
            if value.is_some() || chosen.is_none() {
                locals.insert(name.clone(), value.unwrap_or(Err(Reported)));
            }
        }
        Ok(())
    }

    fn output(&mut self, name: &Name, span: Span, locals: &Locals) {
        let value = locals.get(name).cloned().or_else(|| self.global(name)).unwrap_or(Err(Reported));
        let tensor = match value {
            Ok(Value::Tensor(tensor)) => Some(tensor),
            Ok(Value::Absent(absent)) => {
                self.absent(&absent, span);
                None
            }
            Ok(other) => {
                let found = self.describe(&other);
                self.error(codes::KIND, format!("`output` shows tensors, found {found}"), span, "not a tensor");
                None
            }
            Err(Reported) => None,
        };
        let at = self.declaration(span);
        self.show(name, at, tensor);
    }

    fn param(&mut self, param: &Param, locals: &Locals) -> Eval<Value> {
        let shape = self.shape(&param.shape, locals);
        let init = self.init(param, locals);
        let ((shape, sizes), init) = (shape?, init?);
        let (ty, at) = (TensorType::new(self.ops.float, shape), self.declaration(param.name.span));
        let (name, is_trained) = (param.name.name.clone(), param.is_trained);
        self.weight(Weight { name, ty, sizes, init, is_trained }, at).map(Value::Tensor)
    }

    /// Takes a name for what is declared somewhere.
    pub(super) fn claim(&mut self, name: &Name, named: Named, declared: Declaration) -> Eval<()> {
        let Err((mut error, first)) = self.names.claim(name, named, declared, Place::whole(&declared.span)) else {
            return Ok(());
        };
        if let Some(first) = first.filter(|first| first.span != declared.span) {
            error = error.also(first.span, "first here");
        }
        if let Some(call) = first.and_then(|first| first.call).filter(|&call| Some(call) != declared.call) {
            error = error.also(call, "first run by this call");
        }
        Err(self.report(error))
    }

    fn init(&mut self, param: &Param, locals: &Locals) -> Eval<Init> {
        let mut numbers = Vec::with_capacity(param.init_arguments.len());
        for argument in &param.init_arguments {
            let value = self.expr(argument, locals)?;
            numbers.push(value.as_real().ok_or_else(|| self.wrong_kind("a number", &value, argument))?);
        }
        let first = param.init_arguments.first().map_or(param.init.span, |argument| argument.span);
        let (place, at) = (Place::whole(&param.init.span), Place::whole(&first));
        self.check(initial(&param.init.name, &numbers, place, at))
    }

    /// Checks an argument against the type its function states.
    fn annotated(&mut self, argument: &Argument, value: Eval<Value>, locals: &Locals) -> Eval<Value> {
        let value = value?;
        let Some(ty) = &argument.ty else { return Ok(value) };
        let expected = self.ty(ty, locals)?;
        match &value {
            Value::Tensor(tensor) if *self.ops.b.ty(*tensor) == expected => Ok(value),
            other => {
                let found = self.describe(other);
                let message = format!("argument `{}` must be a tensor `{expected}`, found {found}", argument.name.name);
                let (declared, name) = (argument.name.span, &argument.name.name);
                Err(self.error(codes::TYPE_MISMATCH, message, declared, format!("`{name}` is declared here")))
            }
        }
    }

    fn ty(&mut self, ty: &Type, locals: &Locals) -> Eval<TensorType> {
        self.sized_ty(ty, locals).map(|(ty, _)| ty)
    }

    /// A type with what its sizes are products of.
    pub(super) fn sized_ty(&mut self, ty: &Type, locals: &Locals) -> Eval<(TensorType, Sizes)> {
        let (shape, sizes) = self.shape(&ty.shape, locals)?;
        Ok((TensorType::new(self.element_type(&ty.dtype.name)?, shape), sizes))
    }
}
