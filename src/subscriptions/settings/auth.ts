/** How a client shows itself to its token endpoint (RFC 6749 §2.3.1). */
export type ClientAuthentication = 'basic' | 'post';

/**
 * The credentials with which tokens for an endpoint are requested: the grant of client credentials (RFC 6749
 * §4.4).
 */
export interface Auth {
  readonly type: 'oauth2';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Names of scopes with spaces between them; null asks for none. */
  readonly scope: string | null;
  /** Whom the token is for, where the token endpoint wants to know; null says nothing. */
  readonly audience: string | null;
  readonly clientAuthentication: ClientAuthentication;
}
