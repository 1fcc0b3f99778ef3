// Free text as numbers: words and pairs of neighbors, hashed (lamina/data/encode/text_hash.cc, text_scores.cc).
const hashStart = 14695981039346656037n;
const hashOn = (hash, byte) => ((hash ^ BigInt(byte)) * 1099511628211n) & 0xffffffffffffffffn;
const mixedHash = (hash) => hash ^ (hash >> 32n);

// A letter in lower case, a digit, a byte beyond ASCII; -1 for what ends a word.
function letterOf(byte) {
  if (byte >= 65 && byte <= 90) return byte + 32;
  return (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte >= 128 ? byte : -1;
}

const pieceStart = hashOn(hashStart, 1);
const beginsLetter = (byte) => (byte & 0xc0) !== 0x80;

// A hash for every three letters in a row of a word between blanks.
function hashPieces(word) {
  const pieces = [];
  for (let begin = 0; begin < word.length; ++begin) {
    if (!beginsLetter(word[begin])) continue;
    let hash = pieceStart;
    let letters = 0;
    for (let i = begin; i < word.length && letters < 3; ++i) {
      hash = hashOn(hash, word[i]);
      if (i + 1 === word.length || beginsLetter(word[i + 1])) ++letters;
    }
    if (letters === 3) pieces.push(mixedHash(hash));
  }
  return pieces;
}

// `hashes` of words and pairs of neighbors, `pieces` of words, and one hash of `all` words.
function hashWords(text) {
  const hashes = [];
  const pieces = [];
  let word = hashStart;
  let pair = hashStart;
  let all = hashStart;
  let letters = [];
  for (const byte of [...new TextEncoder().encode(text), 0]) {
    const letter = letterOf(byte);
    if (letter >= 0) {
      word = hashOn(word, letter);
      pair = hashOn(pair, letter);
      all = hashOn(all, letter);
      letters.push(letter);
    } else if (letters.length > 0) {
      const hasPrevious = hashes.length > 0;
      hashes.push(mixedHash(word));
      if (hasPrevious) hashes.push(mixedHash(pair));
      pair = hashOn(word, 32);
      all = hashOn(all, 32);
      pieces.push(...hashPieces([32, ...letters, 32]));
      letters = [];
      word = hashStart;
    }
  }
  return { hashes, pieces, all: mixedHash(all) };
}

// `count` buckets of length 1; all zero for a text without words.
function hashText(text, count) {
  const buckets = new Float64Array(count);
  for (const hash of hashWords(text).hashes) {
    buckets[Number((hash >> 1n) % BigInt(count))] += hash & 1n ? 1 : -1;
  }
  const length = Math.sqrt(buckets.reduce((sum, x) => sum + x * x, 0));
  return length > 0 ? buckets.map((x) => x / length) : buckets;
}

// What the words of a text say of the target. `weights` are read once.
function scoreText(text, scores) {
  const { buckets, offsets, steps } = scores;
  scores.line ??= Int8Array.from(atob(scores.weights), (byte) => byte.charCodeAt(0));
  const { hashes, pieces, all } = hashWords(text);
  const places = new Set([...hashes, ...pieces].map((hash) => Number(hash % BigInt(buckets))));
  const folds = scores.line.length / (buckets * steps.length);
  const fold = Number(all % BigInt(folds));
  return steps.map((step, k) => {
    let sum = 0;
    for (const place of places) sum += scores.line[(place * folds + fold) * steps.length + k];
    return offsets[k] + (sum === 0 ? 0 : step * (sum / Math.sqrt(places.size)));
  });
}
