import type { HttpRequest } from './http-request.ts';

/** Maximum number of smaller requests that are tried. */
const triesMax = 120;

/**
 * A smaller request for which `isSlow` still holds, found by leaving out headers and then ever smaller parts
 * of each text; the request itself where nothing can be left out.
 */
export async function shrinkRequest(
  request: HttpRequest,
  isSlow: (smaller: HttpRequest) => Promise<boolean>,
): Promise<HttpRequest> {
  let smallest = request;
  let tries = 0;

  async function keep(smaller: HttpRequest): Promise<boolean> {
    if (tries >= triesMax) return false;
    tries += 1;
    const still = await isSlow(smaller);
    if (still) smallest = smaller;
    return still;
  }

  async function shorten(text: string, put: (text: string) => HttpRequest): Promise<void> {
    let left = text;
    for (let parts = 2; parts <= 16; parts *= 2) {
      const size = Math.ceil(text.length / parts);
      if (size < 8) return;
      for (let at = 0; at < left.length;) {
        const shorter = left.slice(0, at) + left.slice(at + size);
        if (await keep(put(shorter))) left = shorter;
        else at += size;
      }
    }
  }

  for (let at = request.headers.length - 1; at >= 0; at -= 1)
    await keep({ ...smallest, headers: smallest.headers.filter((_, index) => index !== at) });
  if (smallest.body !== '') await keep({ ...smallest, body: '' });
  await shorten(smallest.body, (body) => ({ ...smallest, body }));
  await shorten(smallest.target, (target) => ({ ...smallest, target }));
  for (const index of smallest.headers.keys())
    await shorten(smallest.headers[index]?.[1] ?? '', (value) => ({
      ...smallest,
      headers: smallest.headers.map(([name, old], i) => [name, i === index ? value : old]),
    }));
  return smallest;
}
