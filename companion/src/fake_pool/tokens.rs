//! Text as tokens: four bytes each, so that what a model "said" and a client sends back in the next
//! turn is the same tokens again.

use super::fnv::Fnv;

const BYTES: usize = 4;

/// What the models say: each word is one token.
const WORDS: [&str; 32] = [
    " the", " and", " for", " you", " are", " not", " but", " all", " can", " use", " how", " now", " new",
    " two", " one", " our", " out", " day", " get", " has", " him", " its", " may", " say", " she", " see",
    " who", " did", " let", " put", " too", " any",
];

/// A word that a model says.
pub(crate) type Word = &'static str;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(u32);

impl Token {
    /// A token with its number in the vocabulary, as clients that tokenise by themselves send it.
    pub(crate) fn numbered(number: u32) -> Self {
        Self(number)
    }

    /// A token that stands for no text, such as the start of a role's turn.
    pub(crate) fn control(name: &str) -> Self {
        let mut fnv = Fnv::default();
        fnv.bytes(name.as_bytes());
        let [a, b, c, d, ..] = fnv.value().to_le_bytes();
        Self(u32::from_le_bytes([a, b, c, d]))
    }
}

impl From<Word> for Token {
    fn from(word: Word) -> Self {
        let mut bytes = [0; BYTES];
        bytes.iter_mut().zip(word.bytes()).for_each(|(to, from)| *to = from);
        Self(u32::from_le_bytes(bytes))
    }
}

/// The tokens of a text; the last one may be shorter.
pub(crate) fn tokenize(text: &str) -> impl Iterator<Item = Token> {
    text.as_bytes().chunks(BYTES).map(|chunk| {
        let mut bytes = [0; BYTES];
        bytes.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        Token(u32::from_le_bytes(bytes))
    })
}

/// What a model has before it: the prompt, then what it produced. Only the length and the hashes of the
/// full blocks are kept, since the model needs no more.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    len: usize,
    block_size: usize,
    chain: Vec<u64>,
    /// The hash of everything.
    last: Fnv,
}

impl Context {
    /// The context of `model` with a prompt: blocks of different models are never the same.
    pub(crate) fn new(model: &str, prompt: impl IntoIterator<Item = Token>, block_size: usize) -> Self {
        let mut last = Fnv::default();
        last.bytes(model.as_bytes());
        let mut context = Self { len: 0, block_size: block_size.max(1), chain: Vec::new(), last };
        prompt.into_iter().for_each(|token| context.push(token));
        context
    }

    /// Tokens.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// For each full block, from the start, the hash of everything up to its end.
    pub(crate) fn chain(&self) -> &[u64] {
        &self.chain
    }

    /// Adds a token.
    pub(crate) fn push(&mut self, token: Token) {
        self.len += 1;
        self.last.word(u64::from(token.0));
        if self.len.is_multiple_of(self.block_size) {
            self.chain.push(self.last.value());
        }
    }

    /// What the model says next: it depends on everything before it and on nothing else.
    pub(crate) fn next_word(&self) -> Word {
        // The low bits of FNV mix badly.
        let choice = (self.last.value() >> 32) % WORDS.len() as u64;
        usize::try_from(choice).ok().and_then(|choice| WORDS.get(choice)).copied().unwrap_or(" ...")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_one_token() {
        for word in WORDS {
            assert_eq!(tokenize(word).collect::<Vec<_>>(), [Token::from(word)], "{word}");
        }
    }

    #[test]
    fn what_was_said_is_the_same_tokens_when_it_is_sent_back() {
        let start: Vec<Token> = tokenize("a question of odd length").collect();
        let mut said = Context::new("m", start.clone(), 4);
        let mut text = String::new();
        for _ in 0..20 {
            let word = said.next_word();
            text.push_str(word);
            said.push(Token::from(word));
        }
        let sent_back = Context::new("m", start.into_iter().chain(tokenize(&text)), 4);
        assert_eq!(sent_back.chain(), said.chain());
        assert_eq!(sent_back.len(), said.len());
    }

    #[test]
    fn blocks_differ_by_model_and_by_what_is_before_them() {
        let chain = |model, text| Context::new(model, tokenize(text), 2).chain().to_vec();
        assert_eq!(chain("m", "12345678abcdefgh"), chain("m", "12345678abcdefgh-"));
        assert_ne!(chain("m", "12345678"), chain("n", "12345678"));
        let (one, other) = (chain("m", "12345678abcdefgh"), chain("m", "12345679abcdefgh"));
        assert!(one.iter().zip(&other).all(|(a, b)| a != b));
    }
}
