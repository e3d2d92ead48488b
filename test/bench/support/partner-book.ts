/** The filings of a benchmark's partner service, newest first. */
export interface PartnerBook {
  /** A page as JSON; `status` null: of the whole list. */
  page(status: string | null, offset: number, limit: number): string;
  /** One filing as JSON, null when there is none. */
  filing(id: string): string | null;
  /** PENDING → COMPLETED, PAID → PENDING, UNPAID → PAID, and a new one UNPAID: one filing each. */
  change(): void;
  /** Moves the newest PENDING filing to REJECTED, and returns its id; a page before it is not kept. */
  reject(): string;
}

const moves = [
  ['PENDING', 'COMPLETED'],
  ['PAID', 'PENDING'],
  ['UNPAID', 'PAID'],
] as const;

/**
 * So many filings with ids like UUIDs, the unsettled ones spread over three statuses, one in twenty of the
 * others REJECTED. With `isShuffled` each page of the REJECTED ones begins at another of them.
 */
export function createPartnerBook(filings: number, unsettled: number, isShuffled = false): PartnerBook {
  const all = Array.from({ length: filings }, (_, i) => filings - 1 - i);
  const lists = new Map<string, number[]>();
  const statuses = new Map<number, string>();
  const texts = new Map<string, string>();
  const firstStatus = (number: number) => bookStatus(number, unsettled);
  for (const number of all) listOf(firstStatus(number)).push(number);

  function listOf(status: string): number[] {
    const list = lists.get(status) ?? [];
    lists.set(status, list);
    return list;
  }

  function render(number: number): string {
    return bookFilingText(number, statuses.get(number) ?? firstStatus(number));
  }

  function renderPage(status: string | null, offset: number, limit: number): string {
    const list = status === null ? all : turned(listOf(status), isShuffled && status === 'REJECTED');
    const items = list
      .slice(offset, offset + limit)
      .map(render)
      .join(',');
    return `{"items":[${items}],"total":${list.length},"offset":${offset},"limit":${limit}}`;
  }

  function turned(list: readonly number[], isTurned: boolean): readonly number[] {
    const first = isTurned ? Math.floor(Math.random() * list.length) : 0;
    return first === 0 ? list : [...list.slice(first), ...list.slice(0, first)];
  }

  return {
    page(status, offset, limit) {
      if (isShuffled && status === 'REJECTED') return renderPage(status, offset, limit);
      const name = `${status} ${offset} ${limit}`;
      const text = texts.get(name) ?? renderPage(status, offset, limit);
      if (texts.size < 1_000) texts.set(name, text);
      return text;
    },
    filing(id) {
      const number = Number.parseInt(id.slice(-12), 16);
      return number < all.length ? render(number) : null;
    },
    reject() {
      texts.clear();
      const number = listOf('PENDING').shift();
      if (number === undefined) throw new Error('no filing is PENDING');
      statuses.set(number, 'REJECTED');
      listOf('REJECTED').unshift(number);
      return bookFilingId(number);
    },
    change() {
      texts.clear();
      for (const [from, to] of moves) {
        const number = listOf(from).shift();
        if (number === undefined) continue;
        statuses.set(number, to);
        listOf(to).unshift(number);
      }
      statuses.set(all.length, 'UNPAID');
      listOf('UNPAID').unshift(all.length);
      all.unshift(all.length);
    },
  };
}

/** The id of the filing with that number; 0 is the oldest. */
export function bookFilingId(number: number): string {
  return `5f0c9d3a-7b1e-4c55-9a60-${number.toString(16).padStart(12, '0')}`;
}

/** The status of a filing before any change: the first ones, so many, are unsettled. */
export function bookStatus(number: number, unsettled: number): string {
  if (number < unsettled) return ['UNPAID', 'PAID', 'PENDING'][number % 3] ?? '';
  return number % 20 === 0 ? 'REJECTED' : 'COMPLETED';
}

/** A filing as JSON, about 0.8 KB, as one with its usual fields and two files. */
export function bookFilingText(number: number, status: string): string {
  const id = bookFilingId(number);
  const at = new Date(1.75e12 + number * 1_000).toISOString();
  const file = (name: string) =>
    `{"id":"${name}-${number}","name":"${name}","fileName":"${name}.pdf","filePath":"u/${id}/${name}.pdf","createdAt":"${at}","updatedAt":"${at}"}`;
  return (
    `{"id":"${id}","filingType":"NEW_BUSINESS","userId":"u_1","filingStateId":"s_1",` +
    `"filingState":{"id":"s_1","name":"Texas","stateAbbr":"TX"},"policyNumber":"GL-2026-${number}",` +
    `"insuredsName":"Bluebonnet Roofing & Restoration LLC","carriersName":"Carrier","policyEffectiveDate":"${at}",` +
    `"premium":${1_000 + (number % 5_000)}.50,"status":"${status}","userFiles":[${file('affidavit')},${file('dec-page')}],` +
    `"createdAt":"${at}","completedAt":${status === 'COMPLETED' ? `"${at}"` : 'null'},` +
    `"rejectionReason":${status === 'REJECTED' ? '"Affidavit is not signed"' : 'null'}}`
  );
}
