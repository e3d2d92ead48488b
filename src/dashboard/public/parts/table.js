import { html } from './html.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {ComponentChildren[]} cells one per column
 */

/**
 * A table that becomes a list of cards on a narrow screen. The roles are written out because browsers drop
 * them with the layout.
 * @param {{ caption: string, columns: string[], rows: Row[], empty: ComponentChildren, more?: boolean,
 * onMore?: () => void }} props
 */
export function Table({ caption, columns, rows, empty, more = false, onMore }) {
  if (rows.length === 0 && !more) return html`<p class="empty">${empty}</p>`;
  return html`<table role="table" aria-label=${caption}>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map((column) => html`<th role="columnheader" scope="col" key=${column} data-column=${column}>${column}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          ({ key, cells }) =>
            html`<tr role="row" key=${key}>
              ${cells.map((cell, place) => row(cell, columns[place]))}
            </tr>`,
        )}
      </tbody>
    </table>
    ${more && html`<button type="button" onClick=${onMore}>Show more</button>`}`;
}

/** @type {(cell: ComponentChildren, column: string | undefined) => unknown} */
function row(cell, column) {
  return html`<td role="cell" key=${column} data-column=${column}>${cell}</td>`;
}
