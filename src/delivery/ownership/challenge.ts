import { randomBytes } from 'node:crypto';

/** Type in the body of a challenge. No event has it: a challenge is in no log and is never repeated. */
const challengeType = 'subscription.challenge';

/** A text that only its endpoint can know: 256 random bits. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The body of a challenge. The text stands below `data`, so that a service which answers every request with
 * its own body does not pass.
 */
export function challengeBody(
  subject: { account: string; id: string },
  challenge: string,
  at: number,
): string {
  const { account, id: subscription } = subject;
  return JSON.stringify({
    type: challengeType,
    timestamp: new Date(at).toISOString(),
    data: { account, subscription, challenge },
  });
}

/**
 * Whether the body of a response answers a challenge: it is the text itself, or a JSON object with it as
 * `challenge`, as receivers of Slack's events answer.
 */
export function answersChallenge(body: string, challenge: string): boolean {
  const text = body.trim();
  if (text === challenge) return true;
  try {
    const answer = JSON.parse(text) as { readonly challenge?: unknown } | null;
    return answer?.challenge === challenge;
  } catch {
    return false;
  }
}
