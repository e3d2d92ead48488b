// Elements whose content is no text for people.
const unseen = new Set(['script', 'style', 'template', 'head', 'title']);
// Elements that begin a line of their own.
const blocks = /^(?:p|div|br|h[1-6]|ul|ol|tr|table|section|blockquote|hr)$/;
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  rsquo: '’',
  lsquo: '‘',
  ldquo: '“',
  rdquo: '”',
  sect: '§',
};

/**
 * The text of a piece of HTML, one line per block, numbered if its list is; pure. Tags are dropped, and
 * nothing is executed. The result is text, not HTML: it may have any characters.
 */
export function htmlText(html: string): string {
  let text = '';
  let hiddenBy: string | null = null;
  // The next number of each open list; 0 for a list without numbers.
  const lists: number[] = [];
  for (const [, tag, plain = ''] of html.matchAll(/<([^<>]*)>|([^<]+|<)/g)) {
    const [, slash = '', named = ''] = /^(\/?)([a-z][a-z0-9]*)/i.exec(tag ?? '') ?? [];
    const [name, isEnd] = [named.toLowerCase(), slash !== ''];
    if (hiddenBy !== null) {
      if (isEnd && name === hiddenBy) hiddenBy = null;
    } else if (tag === undefined) text += decoded(plain.replaceAll(/\s+/g, ' '));
    else if (unseen.has(name) && !isEnd) hiddenBy = name;
    else if (name === 'li' && !isEnd) text += `\n${nextMark(lists)} `;
    else if (blocks.test(name)) text += '\n';
    if (name === 'ol' || name === 'ul') {
      if (isEnd) lists.pop();
      else lists.push(name === 'ol' ? 1 : 0);
    }
  }
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function nextMark(lists: number[]): string {
  const number = lists.pop() ?? 0;
  lists.push(number === 0 ? 0 : number + 1);
  return number === 0 ? '-' : `${number}.`;
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{1,8}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code).toWellFormed() : all;
  });
}
