import { useLayoutEffect, useRef, useState } from '../vendor/hooks.js';
import { html } from './html.js';

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
