// Usage: healthcheck.mjs <setting of the port> <default port> <path>. Exits with 0 when the server in this container answers 2xx.
const [setting = '', fallback = '', path = '/'] = process.argv.slice(2)
// oxlint-disable-next-line node/no-process-env -- a program of its own
const port = process.env[setting] || fallback
const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3000) }).catch(() => undefined)
process.exit(answer?.ok ? 0 : 1)
