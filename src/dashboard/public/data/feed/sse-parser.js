/**
 * One message of an event stream.
 * @typedef {object} StreamMessage
 * @property {string} id the last id that was sent so far, empty before the first
 * @property {string} data empty where only an id was sent
 */

/**
 * Reads Server-Sent Events (WHATWG HTML §9.2.6) from pieces of text that end anywhere. Each call returns the
 * messages that the piece completes. Comments are left out; so are event names and retry times, which this
 * page has no use for.
 * @returns {(piece: string) => StreamMessage[]}
 */
export function createSseParser() {
  let rest = '';
  let id = '';
  /** @type {string[]} */
  let data = [];
  let touched = false;

  /** @type {(line: string) => StreamMessage[]} */
  function take(line) {
    if (line === '') return complete();
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    if (field === 'id' && !value.includes('\0')) id = value;
    touched ||= field === 'data' || field === 'id';
    return [];
  }

  function complete() {
    const messages = touched ? [{ id, data: data.join('\n') }] : [];
    data = [];
    touched = false;
    return messages;
  }

  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.flatMap(take);
  };
}
