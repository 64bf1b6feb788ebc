//! Items that the rows of the table of opcodes define.

/// [`Opcode`](super::Opcode) and the families of elementwise opcodes, with their columns.
macro_rules! define {
    (
        unary { $($Unary:ident = $u_name:literal, $u_stablehlo:literal, $unary:ident($u_takes:ident) $(-> $gives:ident)?, $u_work:ident;)* }
        binary { $($Binary:ident = $b_name:literal, $b_stablehlo:literal, $binary:ident($b_takes:ident), $b_work:ident;)* }
        other { $($Other:ident = $o_name:literal, $o_stablehlo:expr, $o_calls:ident, $rule:ident;)* }
    ) => {
        /// An opcode of our set.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "the HLO names say it")]
        pub enum Opcode {
            Unary(UnaryOp),
            Binary(BinaryOp),
            $($Other,)*
        }

        impl Opcode {
            /// Every opcode, in the order of the table.
            pub const ALL: &[Opcode] = &[
                $(Opcode::Unary(UnaryOp::$Unary),)*
                $(Opcode::Binary(BinaryOp::$Binary),)*
                $(Opcode::$Other,)*
            ];

            /// The opcode with this name in HLO.
            pub fn parse(name: &str) -> Option<Self> {
                Some(match name {
                    $($u_name => Opcode::Unary(UnaryOp::$Unary),)*
                    $($b_name => Opcode::Binary(BinaryOp::$Binary),)*
                    $($o_name => Opcode::$Other,)*
                    _ => return None,
                })
            }

            /// The columns that all opcodes have.
            pub fn row(self) -> Row {
                match self {
                    $(Opcode::Unary(UnaryOp::$Unary) => Row {
                        name: $u_name,
                        stablehlo: Some($u_stablehlo),
                        calls: Calls::Nothing,
                    },)*
                    $(Opcode::Binary(BinaryOp::$Binary) => Row {
                        name: $b_name,
                        stablehlo: Some($b_stablehlo),
                        calls: Calls::Nothing,
                    },)*
                    $(Opcode::$Other => Row {
                        name: $o_name,
                        stablehlo: $o_stablehlo,
                        calls: Calls::$o_calls,
                    },)*
                }
            }
        }

        elementwise! {
            /// Elementwise opcodes of one operand, whose type the result has unless the table says another.
            UnaryOp is Unary: $($Unary $u_takes $u_work,)*
        }

        impl UnaryOp {
            /// The element type of the result for that of the operand.
            pub fn gives(self, operand: DType) -> DType {
                match self {
                    $($(UnaryOp::$Unary => DType::$gives,)?)*
                    _ => operand,
                }
            }
        }

        elementwise! {
            /// Elementwise opcodes of two operands of one type, which the result has too.
            BinaryOp is Binary: $($Binary $b_takes $b_work,)*
        }
    };
}

/// A family of elementwise opcodes with the columns that only they have.
macro_rules! elementwise {
    ($(#[$doc:meta])* $Op:ident is $Family:ident: $($Variant:ident $takes:ident $work:ident,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "the HLO names say it")]
        pub enum $Op { $($Variant,)* }

        impl $Op {
            /// Every opcode of the family, in the order of the table.
            pub const ALL: &[$Op] = &[$($Op::$Variant,)*];

            /// The name in HLO.
            pub fn name(self) -> &'static str {
                Opcode::from(self).name()
            }

            /// The elements of its operands.
            pub fn takes(self) -> Takes {
                match self { $($Op::$Variant => Takes::$takes,)* }
            }

            /// The cost of one element of the result.
            pub fn work(self) -> Work {
                match self { $($Op::$Variant => Work::$work,)* }
            }
        }

        impl From<$Op> for Opcode {
            fn from(op: $Op) -> Self {
                Opcode::$Family(op)
            }
        }

        impl fmt::Display for $Op {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
