// Free text as numbers: words and pairs of neighbors, hashed (lamina/data/encode/text_hash.cc).
const hashStart = 14695981039346656037n;
const hashOn = (hash, byte) => ((hash ^ BigInt(byte)) * 1099511628211n) & 0xffffffffffffffffn;

function countHash(hash, buckets) {
  const mixed = hash ^ (hash >> 32n);
  buckets[Number((mixed >> 1n) % BigInt(buckets.length))] += mixed & 1n ? 1 : -1;
}

// A letter in lower case, a digit, a byte beyond ASCII; -1 for what ends a word.
function letterOf(byte) {
  if (byte >= 65 && byte <= 90) return byte + 32;
  return (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte >= 128 ? byte : -1;
}

// `buckets` of length 1; all zero for a text without words.
function hashText(text, count) {
  const buckets = new Float64Array(count);
  let word = hashStart;
  let pair = hashStart;
  let inWord = false;
  let hasPrevious = false;
  for (const byte of [...new TextEncoder().encode(text), 0]) {
    const letter = letterOf(byte);
    if (letter >= 0) {
      word = hashOn(word, letter);
      pair = hashOn(pair, letter);
      inWord = true;
    } else if (inWord) {
      countHash(word, buckets);
      if (hasPrevious) countHash(pair, buckets);
      pair = hashOn(word, 32);
      hasPrevious = true;
      word = hashStart;
      inWord = false;
    }
  }
  const length = Math.sqrt(buckets.reduce((sum, x) => sum + x * x, 0));
  return length > 0 ? buckets.map((x) => x / length) : buckets;
}
