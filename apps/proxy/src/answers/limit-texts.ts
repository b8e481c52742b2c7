import type { Cap } from './proxy-error.ts'

interface LimitText {
  readonly status: number
  /** The title of the page in a browser. */
  readonly title: string
  readonly message: (limit: number) => string
  /** The setting that raises the cap, if there is one. */
  readonly setting?: string
}

/** The answers at a cap: 429 for a cap of a client or a sandbox, 503 for a cap of the whole proxy. */
export const LIMIT_TEXTS: Readonly<Record<Cap, LimitText>> = {
  connections: {
    status: 503,
    title: 'Too Many Connections',
    message: (limit) => `The proxy has too many open connections (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_CONNECTIONS',
  },
  client_connections: {
    status: 429,
    title: 'Too Many Connections',
    message: (limit) => `Your address has too many open connections (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_CLIENT_CONNECTIONS',
  },
  requests: {
    status: 503,
    title: 'Too Many Requests',
    message: (limit) => `The proxy has too many requests in flight (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_REQUESTS',
  },
  client_requests: {
    status: 429,
    title: 'Too Many Requests',
    message: (limit) => `Your address has too many requests in flight (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_CLIENT_REQUESTS',
  },
  head_bytes: {
    status: 503,
    title: 'Request Headers Too Large',
    message: (limit) => `The proxy has too many large request headers in flight (limit: ${limit} bytes)`,
    setting: 'SANDYARD_PROXY_MAX_HEAD_BYTES',
  },
  client_head_bytes: {
    status: 429,
    title: 'Request Headers Too Large',
    message: (limit) => `Your address has too many large request headers in flight (limit: ${limit} bytes)`,
    setting: 'SANDYARD_PROXY_MAX_HEAD_BYTES',
  },
  sandbox_connections: {
    status: 429,
    title: 'Too Many Connections',
    // control-plane.md 19.3
    message: (limit) => `The sandbox has too many concurrent incoming connections (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_SANDBOX_CONNECTIONS',
  },
  waiting: {
    status: 503,
    title: 'Too Many Requests',
    message: (limit) => `The proxy has too many requests that wait for their sandboxes (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_WAITING',
  },
  sandbox_waiting: {
    status: 429,
    title: 'Too Many Requests',
    message: (limit) => `The sandbox has too many requests that wait until it runs (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_SANDBOX_WAITING',
  },
  sandbox_client_connections: {
    status: 429,
    title: 'Too Many Connections',
    message: (limit) => `Your address has too many concurrent connections to the sandbox (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_SANDBOX_CLIENT_CONNECTIONS',
  },
  interim_answers: {
    status: 502,
    title: 'Too Many Interim Answers',
    message: (limit) => `The sandbox is running but the service sent too many interim answers (limit: ${limit})`,
    setting: 'SANDYARD_PROXY_MAX_INTERIM_ANSWERS',
  },
  answer_heads: {
    status: 502,
    title: 'Response Headers Incomplete',
    message: (limit) => `The sandbox is running but too many response headers have arrived only in part (limit: ${limit} bytes)`,
  },
  route_lookups: {
    status: 503,
    title: 'Too Many Lookups',
    message: (limit) => `The proxy has too many sandboxes to look up (limit: ${limit}). Try again in a moment.`,
    setting: 'SANDYARD_PROXY_MAX_ROUTE_LOOKUPS',
  },
  signed_lookups: {
    status: 429,
    title: 'Too Many Lookups',
    message: () => 'Too many requests that name no sandbox are being looked up. Try again in a moment.',
    setting: 'SANDYARD_PROXY_MAX_SIGNED_LOOKUPS',
  },
}
