import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from '../html.js';
import { number } from './format.js';
import { whenRead } from './parts.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { List } from '../data/api.js' */

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {ComponentChildren[]} cells one per column; more are left out
 * @property {ComponentChildren} [card] the same for a narrow screen: the most important first
 * @property {ComponentChildren} [below] a line under the row
 */

/**
 * @typedef {object} TableProps
 * @property {string} caption
 * @property {readonly string[]} columns
 * @property {Row[]} rows
 * @property {ComponentChildren} empty in place of a table without rows
 * @property {readonly string[]} [numbers] columns that are aligned to the right
 * @property {boolean} [more] whether there are further rows to show
 * @property {() => void} [onMore]
 */

const pxOfColumn = 112;
const widthMin = 640;

/**
 * A table. If it is too narrow, it becomes a list of the rows' cards, or of their cells with their names.
 * @param {TableProps} props
 */
export function Table({ caption, columns, rows, empty, numbers = [], more = false, onMore }) {
  const [box, isNarrow] = useNarrow(Math.max(widthMin, columns.length * pxOfColumn));
  if (rows.length === 0 && !more) return html`<div ref=${box}><p class="empty">${empty}</p></div>`;
  const kind = (/** @type {string} */ column) => (numbers.includes(column) ? 'number' : undefined);
  const row = (/** @type {Row} */ { key, cells, below }) =>
    html`<tr key=${key}>
        ${columns.map(
          (column, place) =>
            html`<td key=${column} data-column=${column} class=${kind(column)}>${cells[place]}</td>`,
        )}
      </tr>
      ${
        below &&
        html`<tr key=${`${key} below`} class="line">
          <td colspan=${columns.length}>${below}</td>
        </tr>`
      }`;
  const named = (/** @type {Row} */ { cells }) =>
    html`<dl>
      ${columns.map(
        (column, place) =>
          html`<div key=${column}>
            <dt>${column}</dt>
            <dd>${cells[place]}</dd>
          </div>`,
      )}
    </dl>`;
  const list = html`<ul class="rows" aria-label=${caption}>
    ${rows.map((one) => html`<li key=${one.key}>${one.card ?? named(one)}${one.below}</li>`)}
  </ul>`;
  const table = html`<table aria-label=${caption}>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col" key=${column} class=${kind(column)}>${column}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(row)}
    </tbody>
  </table>`;
  return html`<div class="table-box" ref=${box}>
    ${isNarrow ? list : table} ${more && html`<button type="button" onClick=${onMore}>Show more</button>`}
  </div>`;
}

/**
 * A table of a list of the API, as far as it is shown.
 * @template T
 * @param {Pick<TableProps, 'caption' | 'columns' | 'empty' | 'numbers'> & { of: List<T>, what: string,
 * rowsOf: (items: T[]) => Row[] }} props `what` completes "Could not read …"
 */
export function ListTable({ of: list, what, rowsOf, ...table }) {
  const show = (/** @type {NonNullable<typeof list.data>} */ { items, more }) =>
    html`<${Table} ...${table} rows=${rowsOf(items)} more=${more} onMore=${list.showMore} />`;
  return whenRead(list, what, show);
}

/**
 * Whether an element has less room than this, known before it is painted.
 * @param {number} minPx
 * @returns {[box: { current: HTMLDivElement | null }, isNarrow: boolean]}
 */
function useNarrow(minPx) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isNarrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setNarrow(element.clientWidth < minPx);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [minPx]);
  return [box, isNarrow];
}

/**
 * A table whose rows do not move while the pointer or the focus is among them: each is shown as it is now,
 * and what came or went is counted above.
 * @param {TableProps & { subject: string }} props `subject`: what is listed; a list of another one is shown
 * at once
 */
export function StillTable({ subject, rows, onMore, ...table }) {
  const [box, isHeld] = useHeld();
  const shown = useRef({ subject, rows });
  const [, setTurn] = useState(0);
  const release = useCallback(() => {
    shown.current = { ...shown.current, subject: '' };
    setTurn((turn) => turn + 1);
  }, []);
  // More rows that were asked for are shown, although the focus or the pointer is on the button for them.
  const atMore = useRef(0);
  const showMore = () => {
    atMore.current = rows.length;
    onMore?.();
  };
  const isAsked = atMore.current > 0 && rows.length > atMore.current;
  if (isAsked) atMore.current = 0;
  if (!isHeld || isAsked || shown.current.subject !== subject) shown.current = { subject, rows };
  const latest = new Map(rows.map((row) => [row.key, row]));
  const before = new Set(shown.current.rows.map(({ key }) => key));
  const added = rows.filter(({ key }) => !before.has(key)).length;
  const gone = shown.current.rows.filter(({ key }) => !latest.has(key)).length;
  const news = [added > 0 && `${number(added)} new`, gone > 0 && `${number(gone)} no longer in the list`];
  return html`<div class="table-box" ref=${box}>
    ${
      added + gone > 0 &&
      html`<button type="button" class="news" onClick=${release}>
        Show: ${news.filter(Boolean).join(', ')}
      </button>`
    }
    <${Table}
      ...${table}
      rows=${shown.current.rows.map((row) => latest.get(row.key) ?? row)}
      onMore=${showMore}
    />
  </div>`;
}

/** @returns {[box: { current: HTMLDivElement | null }, isHeld: boolean]} */
function useHeld() {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () => setHeld(element.matches(':hover') || element.querySelector(':focus-visible') !== null);
    const kinds = ['pointerenter', 'pointerleave', 'focusin', 'focusout'];
    // The focus has moved on only after its event.
    const soon = () => setTimeout(look, 0);
    for (const kind of kinds) element.addEventListener(kind, soon);
    return () => {
      for (const kind of kinds) element.removeEventListener(kind, soon);
    };
  }, []);
  return [box, isHeld];
}
