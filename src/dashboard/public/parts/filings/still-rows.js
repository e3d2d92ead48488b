import { useStill } from '../../data/input/use-still.js';
import { number } from '../format.js';
import { html } from '../html.js';
import { Table } from '../table.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Row } from '../table.js' */

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
