// Colours of model texts: the language is registered after the book was highlighted, so its blocks are done here.
hljs.registerLanguage("hal", (hljs) => ({
  name: "Halite",
  keywords: {
    keyword: "model library use config require let fn param buffer for in if else match return output metric loss over weight as and or not",
    literal: "true false",
    built_in: "zeros ones constant normal truncated_normal uniform range orthogonal",
    type: "f64 f32 bf16 f16 s64 s32 s16 s8 u32 u16 u8 pred float",
  },
  contains: [
    hljs.C_LINE_COMMENT_MODE,
    { className: "string", begin: /"/, end: /"/ },
    { className: "number", begin: /\b\d+(\.\d+)?(e[-+]?\d+)?\b/ },
    { className: "title", begin: /(?<=\bfn )\w+/ },
  ],
}));
for (const code of document.querySelectorAll("code.language-hal")) {
  code.textContent = code.textContent;
  hljs.highlightBlock(code);
}
