import { useLayoutEffect, useRef, useState, useCallback, useEffect } from '../vendor/hooks.js';
import { html } from '../html.js';
import { number } from './format.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {ComponentChildren[]} cells one per column
 * @property {ComponentChildren} [card] the same for a narrow screen: the most important first
 * @property {ComponentChildren} [below] a line under the row
 */

const pxOfColumn = 112;
const widthMin = 640;

/**
 * A table. Where it has no room it becomes a list of the rows' cards, or of their cells with their names. The
 * roles are written out because browsers drop them with the layout. Columns named in `numbers` are aligned to
 * the right.
 * @param {{ caption: string, columns: string[], rows: Row[], empty: ComponentChildren, numbers?: string[],
 * more?: boolean, onMore?: () => void }} props
 */
export function Table({ caption, columns, rows, empty, numbers = [], more = false, onMore }) {
  const [box, isNarrow] = useNarrow(Math.max(widthMin, columns.length * pxOfColumn));
  if (rows.length === 0 && !more) return html`<div ref=${box}><p class="empty">${empty}</p></div>`;
  const isComposed = isNarrow && rows.some(({ card }) => card !== undefined);
  return html`<div class="table-box" ref=${box}>
    ${isComposed ? html`<${Cards} caption=${caption} rows=${rows} />` : grid({ caption, columns, rows, numbers, isNarrow })}
    ${more && html`<button type="button" onClick=${onMore}>Show more</button>`}
  </div>`;
}

/** @param {{ caption: string, rows: Row[] }} props */
function Cards({ caption, rows }) {
  return html`<ul class="rows" aria-label=${caption}>
    ${rows.map(({ key, card, below }) => html`<li key=${key}>${card}${below}</li>`)}
  </ul>`;
}

/**
 * @param {{ caption: string, columns: string[], rows: Row[], numbers: string[], isNarrow: boolean }} table
 */
function grid({ caption, columns, rows, numbers, isNarrow }) {
  const kind = (/** @type {string | undefined} */ column) =>
    column !== undefined && numbers.includes(column) ? 'number' : undefined;
  return html`<table role="table" aria-label=${caption} class=${isNarrow ? 'narrow' : ''}>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(
          (column) =>
            html`<th
              role="columnheader"
              scope="col"
              key=${column}
              data-column=${column}
              class=${kind(column)}
            >
              ${column}
            </th>`,
        )}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        ({ key, cells, below }) =>
          html`<tr role="row" key=${key} class=${below ? 'with-line' : undefined}>
              ${cells.map(
                (cell, place) =>
                  html`<td
                    role="cell"
                    key=${columns[place]}
                    data-column=${columns[place]}
                    class=${kind(columns[place])}
                  >
                    ${cell}
                  </td>`,
              )}
            </tr>
            ${
              below &&
              html`<tr role="row" key=${`${key} below`} class="line">
                <td role="cell" colspan=${columns.length}>${below}</td>
              </tr>`
            }`,
      )}
    </tbody>
  </table>`;
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
 * A table of filings whose rows do not move under the pointer: what came meanwhile is counted above it.
 * @template T
 * @param {{ subject: string, items: T[], keyOf: (item: T) => string, rowOf: (item: T) => Omit<Row, 'key'>,
 * caption: string, columns: string[], numbers?: string[], empty: ComponentChildren, more: boolean, onMore: ()
 * => void }} props
 */
export function StillTable({ subject, items, keyOf, rowOf, onMore, ...table }) {
  const still = useStill(items, keyOf, subject);
  const news = [
    still.added > 0 && `${number(still.added)} new`,
    still.gone > 0 && `${number(still.gone)} no longer in the list`,
  ].filter(Boolean);
  return html`<div class="still" ref=${still.box}>
    ${
      news.length > 0 &&
      html`<button type="button" class="news" onClick=${still.release}>Show: ${news.join(', ')}</button>`
    }
    <${Table}
      ...${table}
      rows=${still.items.map((item) => ({ key: keyOf(item), ...rowOf(item) }))}
      onMore=${onMore}
    />
  </div>`;
}

/**
 * Rows of a list as they are shown.
 * @template T
 * @typedef {object} Still
 * @property {T[]} items
 * @property {number} added rows that wait to be shown
 * @property {number} gone rows that are shown and no longer in the list
 * @property {() => void} release shows the list as it is
 * @property {{ current: HTMLDivElement | null }} box to be put around the rows
 */

/**
 * Which rows are shown while none may move: those that were, each as it is now; pure.
 * @template T
 * @param {T[]} shown
 * @param {T[]} latest
 * @param {(item: T) => string} keyOf
 */
export function hold(shown, latest, keyOf) {
  const now = new Map(latest.map((item) => [keyOf(item), item]));
  const before = new Set(shown.map(keyOf));
  return {
    items: shown.map((item) => now.get(keyOf(item)) ?? item),
    added: latest.filter((item) => !before.has(keyOf(item))).length,
    gone: shown.filter((item) => !now.has(keyOf(item))).length,
  };
}

/**
 * Holds the rows of a list still while the pointer or the focus is among them.
 * @template T
 * @param {T[]} latest
 * @param {(item: T) => string} keyOf
 * @param {string} subject what is listed: a list of another subject is shown at once
 * @returns {Still<T>}
 */
export function useStill(latest, keyOf, subject) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isHeld, setHeld] = useState(false);
  const shown = useRef({ subject, items: latest });
  const [, setTurn] = useState(0);
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
  const release = useCallback(() => {
    shown.current = { ...shown.current, subject: '' };
    setTurn((turn) => turn + 1);
  }, []);
  if (!isHeld || shown.current.subject !== subject) shown.current = { subject, items: latest };
  return { ...hold(shown.current.items, latest, keyOf), release, box };
}
