//! The table of diagnostic codes: one constant, one paragraph and one remedy each.
//!
//! `E01xx` syntax, `E02xx` types and IR, `E03xx` the model language, `E04xx` recipes and configuration,
//! `E05xx` bundles, tensors and files, `E06xx` passes and pipelines, `E07xx` the runtime, `E09xx` the compiler itself.

use std::fmt;

/// A diagnostic code with its explanation.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Code {
    /// A letter and four digits; ours begin with `E`.
    pub id: &'static str,
    /// One paragraph: what it means.
    pub explanation: &'static str,
    /// The usual remedy, for diagnostics that know nothing better.
    pub remedy: &'static str,
}

impl Code {
    /// A code for what a pass from outside finds. An id that begins with another letter than `E` will never be one of ours.
    ///
    /// ```
    /// use halite_support::{Code, Diagnostic};
    ///
    /// const TOO_DEEP: Code = Code::new("X0001", "The model has more layers than the board takes.", "take layers out");
    ///
    /// let error = Diagnostic::error(TOO_DEEP, "80 layers, the board takes 64");
    /// assert_eq!((error.code().id, error.remedy()), ("X0001", "take layers out"));
    /// ```
    pub const fn new(id: &'static str, explanation: &'static str, remedy: &'static str) -> Self {
        Self { id, explanation, remedy }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

macro_rules! codes {
    ($($name:ident = $id:literal: $text:literal => $remedy:literal;)*) => {
        $(#[doc = $text] pub const $name: Code = Code { id: $id, explanation: $text, remedy: $remedy };)*

        /// Every code, in order.
        pub const ALL: &[Code] = &[$($name),*];
    };
}

codes! {
    SYNTAX = "E0101": "The text does not follow the grammar. The message lists what could stand at that place."
        => "write what is expected at that place";
    VERSION = "E0102": "The text or file was written in a format version that this build does not read."
        => "write it again with this version of Halite";

    ARITY = "E0201": "An op lacks an operand, or was given one that it does not take."
        => "give the operands that the op takes";
    DTYPE = "E0202": "An operand's element type is not one the op takes."
        => "convert the operand, or use another op";
    SHAPE = "E0203": "The shapes of the operands do not fit together."
        => "make the shapes fit, e.g. with a reshape, a transpose or a broadcast";
    ATTRIBUTE = "E0204": "An attribute is missing, unknown or out of range."
        => "correct the attribute";
    UNDEFINED_VALUE = "E0205": "A value, function or resource is used before it is defined."
        => "define it on an earlier line, or correct the name";
    TYPE_MISMATCH = "E0206": "A stated type differs from the inferred one."
        => "state the type that the op gives, or change the operands";
    UNKNOWN_OP = "E0207": "No primitive or registered composite has this name."
        => "correct the name, or register a composite of this name";
    DUPLICATE = "E0208": "A name is defined twice."
        => "rename one of the two";
    PHASE = "E0209": "The module contains something that its phase forbids."
        => "remove it, or run the pass that takes the module to this phase";
    NOT_DIFFERENTIABLE = "E0210": "A derivative was asked for where the op has none."
        => "take the gradient elsewhere, or replace the op by one that has a derivative";
    EVALUATION = "E0211": "The reference interpreter cannot run this module on these inputs."
        => "give inputs that fit the module";
    ROUNDING = "E0212": "A rounding is stated where nothing rounds, is missing where something does, or is of no known kind."
        => "state `rounding = rne` or `rounding = sr(\"stream\")` on instructions that round, and nowhere else";
    INEXACT_INTEGER = "E0213": "An integer operation may leave the range in which it is exact where integers are computed in `f32`."
        => "split the words into parts whose sums and products stay below 2^24, or use shifts and bitwise ops";
    NAME = "E0214": "A registered pass, kernel or composite, or a part of a model made in Rust, has a name that cannot be written in texts."
        => "name it with ASCII letters, digits and the marks that the message lists, a letter first";
    STABLEHLO = "E0215": "An instruction of HLO has no form in StableHLO, or carries something that its form has no place for."
        => "take the HLO, or write the part of the program that the message names in another way";
    FOREIGN = "E0216": "A text of StableHLO or HLO has an operation, a type, an attribute or a form that Halite has no HLO for."
        => "write that part of the program in another way, or export it differently";

    UNKNOWN_NAME = "E0301": "A model uses a name that nothing in scope defines."
        => "define it, or correct the name";
    UNUSED = "E0302": "A model defines something that has no effect. Remove it or use it."
        => "use it, or remove it";
    CALL = "E0303": "A function of a model is called with arguments that do not fit its signature."
        => "give the arguments that the function takes";
    RECURSION = "E0304": "A function of a model calls itself, directly or through others. Models have no way to stop that."
        => "replace the recursion by a `for` loop";
    REQUIREMENT = "E0305": "A `require` of the model does not hold for this configuration."
        => "choose values for which it holds";
    CONFIG_VALUE = "E0306": "A value set for a model's configuration has an unknown key or the wrong kind, is one for which the model has no case, or is lost in the element type in which it is computed: an `eps` that is 0 in `f16`."
        => "correct the key or its value";
    KIND = "E0307": "A model uses one kind of value where another is needed, e.g. a tensor as a dimension."
        => "use a value of the kind that is expected";
    ARITHMETIC = "E0308": "Arithmetic on numbers of a model has no exact result: a division of whole numbers with a remainder, or an overflow."
        => "choose numbers for which the result is exact";
    CONTRACT = "E0309": "A model does not keep the contract of `main`: typed batch arguments, results `(loss_sum, count)`, parameters for a training step, an `output` for modules that return what the model shows."
        => "write `fn main(tokens: s32[batch, seq + 1])` that returns `loss, count`";
    LIMIT = "E0310": "A model, a module or a recipe nests too deeply, unrolls or inlines too far, or makes a tensor too large."
        => "make the model smaller, or split the expression into named parts";
    ABSENT = "E0311": "A model uses an argument of `main` where the configuration says that it is not there."
        => "use it only in the branch of an `if` that is chosen where it is there";
    LIBRARY = "E0312": "A `use` names a library that is not there, is none, or lacks a function; or a library holds what only a model has."
        => "name a library and a function of it; leave `config` and `main` to the model";

    INPUT = "E0401": "The input of a command is not one that it takes: neither a preset, a recipe, a model file, a bundle nor a run, or HLO that lacks what the command looks for."
        => "name a preset, a recipe (`.toml`), a model (`.hal`), a bundle or a run, as the command takes it";
    RECIPE_SYNTAX = "E0402": "The recipe is not TOML."
        => "write the recipe in TOML: `key = value`, one on each line";
    RECIPE_KEY = "E0403": "A key of the recipe is unknown, missing, given twice, or has another name now."
        => "correct the key";
    RECIPE_TYPE = "E0404": "A value of the recipe is of the wrong kind."
        => "write a value of the kind that is expected";
    RECIPE_RANGE = "E0405": "A value of the recipe is outside its range."
        => "choose a value in the range";
    OVERRIDE = "E0406": "An override is not of the form `key=value`, leads through a value that has no keys, or is for a bundle that is compiled already."
        => "write `--set key=value`";
    USAGE = "E0407": "The command line does not follow the usage of the command, or leaves out what the command needs."
        => "see `halite help`";
    ENVIRONMENT = "E0408": "The recipe sets a variable or a compiler flag that it must not set: one that changes element types or rounding without the program saying so, one that the launcher sets, one that decides what code processes run, or an unknown one. Or the environment of a process is not the one that its bundle needs."
        => "remove it, and state the precision in `[precision]`; an unknown variable that is meant so goes to `neuron.allow_environment`";
    RECIPE_CLASH = "E0409": "Two values of the recipe do not go together, or one has no effect beside the other."
        => "change one of the two, or remove it";
    COMPILER_VERSION = "E0410": "The rules of this version of `neuronx-cc` are not known, so that those of the nearest known one are used."
        => "set `neuron.compiler` to a version that is known, or correct the tables of targets";
    FLAG = "E0411": "A flag of the recipe is not one that `neuronx-cc` takes, or not with this value, for this target or in this version."
        => "remove the flag, or give it a value that it takes";
    HUGGING_FACE = "E0412": "A `config.json` is not one that a built-in model computes: an unknown key, a missing one, or a value for which there is no model. Or what is asked for does not fit the checkpoint, or has no form in Transformers: sequences longer than its positions, a model that is not built in, a tokenizer that is none of Hugging Face."
        => "give the `config.json` of a family that Halite has, or write the model as a `.hal` file";
    NOT_SUPPORTED = "E0413": "The recipe asks for something that is known and that Halite does not do."
        => "remove it, or use the nearest thing that there is";

    FILE = "E0501": "A file or folder cannot be read, written or used: it is missing, is there already, or does not hold what it should."
        => "check the path, its permissions and the space on the disk";
    BUNDLE = "E0502": "A folder is not a bundle, or its manifest does not follow the schema, contradicts itself, or names what the folder lacks."
        => "compile the bundle again";
    CHECKSUM = "E0503": "A file of a bundle is not the one that the manifest describes. Compile the bundle again."
        => "compile the bundle again";
    TENSOR_FILE = "E0504": "A file is not in the safetensors format, or holds an element type that no program takes."
        => "write the file again in the safetensors format";
    TENSORS = "E0505": "The tensors of a file, a state or a batch do not fit the program: names, element types, shapes or values."
        => "give tensors as the manifest states them";
    OUTPUT = "E0506": "The output would replace something that Halite did not write."
        => "choose another place, or remove what is there";
    TEXT = "E0507": "A text cannot be used: a file or a data set holds none, or too little for one sequence, or a prompt is empty."
        => "give more text";
    MODULE = "E0508": "A bundle has no module of this name, or the module does not take or give what the command needs, such as sequences of tokens or logits."
        => "choose a module of the bundle, or compile it again";
    OTHER_TARGET = "E0509": "The bundle or recipe is for another target than the command needs."
        => "compile it with `--target`";
    OTHER_RUN = "E0515": "A state is resumed by a run of another recipe, program, seed or text than the one that made it, or does not say what made it."
        => "give the run what it had, or say `--allow-changes`";
    OTHER_LAYOUT = "E0516": "A state is resumed on another layout over ranks than the one that it was saved on. The run goes on as it would have, but for the order in which ranks add."
        => "nothing, if that was meant; otherwise give `parallel` what it had";
    CHECKPOINT = "E0517": "There is no checkpoint where one is named, or it is not whole: a file of it is missing, short or damaged, or it was never finished."
        => "resume from another checkpoint of the run";
    RUN_LOCKED = "E0518": "Another run works in the folder. The message names its process."
        => "wait for its end, or choose another folder with `-o`";
    RUN_KEPT = "E0519": "The folder holds checkpoints that the run would replace."
        => "go on from the newest one, or choose another folder with `-o`";
    DATA = "E0520": "Data are not what their configuration says: a file is damaged or of another form, a line is no document, or a token id is unknown to the tokenizer."
        => "mend the data, or say `on_error = \"skip\"` to leave out what cannot be read";
    VOCABULARY = "E0521": "Token ids and a model do not fit: a tokenizer, data or a prompt has ids beyond those that the model knows, or the model predicts fewer ids than it reads."
        => "set the model's `vocab` to at least as many ids as the tokenizer has, or use the tokenizer that the model was trained with";
    TOKENIZER = "E0522": "A tokenizer cannot be used, or it is not known which of its tokens begin and end documents."
        => "give a `tokenizer.json` of Hugging Face or `bytes`, and name the token that ends documents with `data.eos`";
    MEASURED = "E0523": "Held-out data cannot be measured as they are: they do not fill whole batches, or the loss counts nothing in them."
        => "compile with a `batch` that divides how many rows there are, or hold out more";

    PIPELINE = "E0601": "A pipeline names an unknown pass, orders passes so that one meets a phase it does not take, or lacks what a pass needs."
        => "correct the list of passes";
    PATTERN = "E0602": "A pattern, a permission or a filter matches nothing, so it would silently do nothing."
        => "correct the pattern, or remove it";
    REALIZATION = "E0603": "The target cannot round as the recipe asks."
        => "set `precision.sr.by = \"dither\"`, or keep the site in `f32`";
    STREAM_CLASH = "E0604": "Two streams of random bits have the same key, so that they would round alike."
        => "choose another `precision.sr.seed`";
    ILLEGAL = "E0605": "The target does not take the program: it breaks a rule of the target."
        => "change what the rule names; `neuron.allow` lets a recipe break rules that can be allowed";
    DOUBTFUL = "E0606": "No document says that the target takes the program as it is meant, or no use of the target is known."
        => "compare results with those of CPU XLA before a long run";
    UNSETTLED = "E0607": "A group of passes ran as often as it may and still changed the module, which is right but may be larger than it need be."
        => "repeat the group more often, e.g. `(cse, dce)*16`, or take out one of two passes that undo each other";
    CANCELLED = "E0690": "The work was stopped by its caller. What was written before is whole."
        => "start it again, or resume from the last state";

    PLUGIN_MISSING = "E0701": "No PJRT plugin was found to run HLO with. `halite plugin install` fetches one."
        => "run `halite plugin install`";
    PLUGIN_UNUSABLE = "E0702": "The PJRT plugin cannot be opened or speaks another version of the PJRT C API."
        => "run `halite plugin install`, or name another plugin with `--plugin`";
    PLUGIN_INSTALL = "E0703": "The PJRT plugin could not be installed. Nothing was changed."
        => "check the network, or give a wheel with `--wheel`";
    RUNTIME_PROGRAM = "E0704": "The bytes or options handed to the runtime are not a program it can compile."
        => "compile the bundle again";
    RUNTIME_COMPILE = "E0705": "XLA refused to compile the program. The message is XLA's own."
        => "compile the bundle again with this version of Halite; if that does not help, please report it";
    RUNTIME_INPUT = "E0706": "The inputs of a call do not fit the program: number, type, shape, device or owner."
        => "give inputs as the program states them";
    RUNTIME_EXECUTE = "E0707": "A call, a transfer or the set-up of devices failed at run time, or there was no memory for a tensor."
        => "check the memory and the devices of this machine";
    DIVERGED = "E0708": "The loss of a model, the norm of its gradient, or what it predicts is no finite number (any more). In training, lower the learning rate, clip the gradients, or widen what `halite check` warns of."
        => "lower the learning rate or clip the gradients";
    COMPILER_MISSING = "E0709": "No `neuronx-cc` was found to compile with. It comes from the package repository of AWS Neuron; no Neuron device is needed."
        => "install it with pip from the package repository of AWS Neuron (`neuronx-cc`), name it with `--neuronx-cc`, or show the commands with `--dry-run`";
    COMPILER_UNUSABLE = "E0710": "The program that was found or named does not answer as `neuronx-cc` does."
        => "name the right program with `--neuronx-cc`";
    COMPILER_FAILED = "E0711": "`neuronx-cc` did not make a NEFF of a module. What it wrote is kept."
        => "read the log";
    COMPILER_STOPPED = "E0712": "A compile was stopped by a signal. Its compiler was ended, and nothing unfinished was stored."
        => "run the command again; what was compiled before is not compiled again";
    NEFF_STORE = "E0713": "The store of compiled modules cannot be used, or an entry of it was damaged."
        => "check the folder, or name another one with `--cache`";
    NRT_MISSING = "E0714": "No libnrt was found, the library that runs programs on Neuron devices. It comes from the package repository of AWS Neuron."
        => "install `aws-neuronx-runtime-lib`, or name the library or its folder with `--nrt` or `HALITE_NRT`";
    NRT_UNUSABLE = "E0715": "libnrt cannot be opened, is of another major version than this build uses, or finds no driver."
        => "install `aws-neuronx-runtime-lib` of the SDK that the bundle was compiled with, or name another library with `--nrt`";
    NRT_STATUS = "E0716": "A call of libnrt failed. The message says what its status means, and the library writes what it knows on standard error."
        => "read the library's lines above";
    NRT_TIMEOUT = "E0717": "A call of libnrt did not come back. It was given up, and nothing can be called any more in this process."
        => "resume from the state that was saved last; where the program is that slow, wait longer with `--call-timeout`, or with `--load-timeout` where it starts or loads";
    NEFF_UNFIT = "E0718": "The NEFF of a module is missing, or is not the one that its compiler made of this module of this bundle."
        => "run `halite neuron compile` on the bundle";
    OTHER_RANK = "E0719": "Another process of the run failed, is gone or does not fit, so that this one cannot go on. The message names its rank."
        => "see what that rank says, and resume all of them from the state that was saved last";
    SELFTEST = "E0720": "A process of the self-test has no job, or what one left cannot be read."
        => "start `halite neuron selftest` again, with another folder for its work";
    RANKS_APART = "E0721": "Not all processes of a run met: one did not come in time, or where they meet cannot be used. The message says which."
        => "see that each rank is started, by one launch, and that the port after that of the root is free; then start all of them again";
    MACHINE_MEMORY = "E0722": "A run needs more memory than this machine has, or than its limits let the process use. Its state is known exactly, the rest of a step is estimated."
        => "train a smaller model or batch here, or lift the limit";
    ALARM = "E0731": "A run goes on, and what it measures looks wrong: a gradient that grows, a loss that is too good, or updates that wait for data. The recipe's `metrics` has the limits."
        => "look at the curves of the run";
    SENSITIVE_NARROW = "E0801": "An op that loses its meaning at low precision computes in fewer bits than `f32`."
        => "set `precision.sensitive = \"f32\"`";
    ACCUMULATE_NARROW = "E0802": "A sum of many elements is made in fewer bits than `f32`."
        => "set `precision.accumulate = \"f32\"`";
    GRADIENT_NARROW = "E0803": "Gradients are added, or summed over ranks, in fewer bits than `f32`."
        => "set `precision.gradient = \"f32\"` and `precision.reduce = \"f32\"`";
    MOMENT_NARROW = "E0804": "A moment of the optimizer moves by less than its element type resolves."
        => "set `precision.moments = \"f32\"`, or choose smaller betas";
    WEIGHT_NARROW = "E0805": "Small updates of a weight are lost: it is narrow, without master weights and without stochastic rounding."
        => "set `precision.master = \"f32\"`, or round stochastically with `precision.rounding = \"sr\"`";
    LOSS_NARROW = "E0806": "The loss or its count is computed or stored in fewer bits than `f32`."
        => "set `precision.sensitive = \"f32\"`";
    UPDATE_NARROW = "E0807": "The update of a weight is computed in fewer bits than `f32`."
        => "set `precision.update = \"f32\"`";
    CAUSALITY = "E0808": "An output at a position is computed from tokens after it, or a prediction from its label, so that the model sees what it is to predict."
        => "mask what lies after each position, e.g. with `causal_attention`, shift nothing to the left, and compare logits with the next token; a model that reads in both directions, as an encoder does, says `causal = false`";
    GRADIENT_UNSCALED = "E0809": "Gradients are computed in `f16` of a loss that is not scaled, so that small ones are 0."
        => "remove `loss_scale = 1`, or compute in `bf16`";
    RESIDUAL_INIT = "E0811": "The weights that residual branches end in start so large that the residual stream grows with depth, or the scale of the stream cannot be followed."
        => "divide their standard deviation by the root of the number of branches, or waive it with `check.waive = [\"residual-init\"]`";
    FROZEN = "E0812": "A weight has no gradient, so that training never changes it."
        => "use it on the way to the loss, or remove it";
    UNREAD = "E0813": "An input of the model reaches no result."
        => "use it, or remove it";
    REPLICAS = "E0814": "Ranks of a mesh do not hold what the layout of the module says: what is to be the same on several is not, or a sum over them is missing or made twice."
        => "reduce sums over the ranks that hold terms of them, each once, and gather shards in the order of their ranks";

    DOES_NOT_FIT = "E0822": "A module needs more memory than a core of the target has, or more instructions than its compiler takes in one module, as far as that can be estimated."
        => "split the model over more cores, or choose a smaller batch, a shorter sequence or a narrower precision";

    INTERNAL = "E0901": "An invariant of the compiler is broken. This is a bug in Halite, not in the input."
        => "this is a bug in Halite: please report it with the command, its input and this message; `--dump-ir '*'` writes the IR around every pass";
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique_and_sorted() {
        let ids: Vec<_> = super::ALL.iter().map(|code| code.id).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    }
}
