/** A request as it goes over the wire, written by hand: no client may tidy it up. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, not encoded. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Empty for none. */
  readonly body: string;
}

/** Maximum bytes of a request line with its headers: Node refuses more than 16 KiB. */
export const headBytesMax = 16_000;
/** Maximum bytes of a body: the API refuses more. */
export const bodyBytesMax = 256 * 1024;

/** The bytes of a request, which asks for the end of its connection. */
export function bytesOf({ method, target, headers, body }: HttpRequest): Buffer {
  const text = Buffer.from(body);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`content-length: ${text.length}`]),
    'connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), text]);
}

/** Characters of the request line with its headers. */
export function headLength({ method, target, headers }: HttpRequest): number {
  return headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    method.length + target.length + 60,
  );
}

/** Characters of all of it. */
export function lengthOf(request: HttpRequest): number {
  return headLength(request) + request.body.length;
}

/** A request for people to read: what is repeated in it is written once, with a count. */
export function describe(request: HttpRequest): string {
  const lines = [
    `${request.method} ${shortened(request.target)}`,
    ...request.headers.map(([name, value]) => `${shortened(name)}: ${shortened(value)}`),
    ...(request.body === '' ? [] : ['', shortened(request.body)]),
  ];
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts]
    .map(([line, count]) => (count === 1 ? `    ${line}` : `    ‹${line} × ${count}›`))
    .slice(0, 60)
    .join('\n');
}

function shortened(text: string): string {
  const counted = text.replaceAll(
    /(.{1,24}?)\1{7,}/gs,
    (all: string, piece: string) => `‹${piece} × ${all.length / piece.length}›`,
  );
  const short = counted.length > 600 ? `${counted.slice(0, 600)}… (${text.length} characters)` : counted;
  return JSON.stringify(short).slice(1, -1);
}
