import type { BrowserContext, ConsoleMessage } from 'playwright-core'

/** Not of the page: a network that was switched off by the test or cancelled by a container's interface. */
const OF_THE_NETWORK = /net::ERR_(NETWORK_CHANGED|INTERNET_DISCONNECTED|NETWORK_IO_SUSPENDED|CONNECTION_(REFUSED|RESET|CLOSED))/

/** Without a session the page asks who is logged in, and shows the login. */
const NO_SESSION = /status of 401/

/** The answer to the save of a file that was changed meanwhile, which the page shows. */
const CONFLICT = /status of 412/

/** Runs in the page, before its own scripts. */
const WATCH = `document.addEventListener('securitypolicyviolation', (event) =>
  window.reportViolation(event.effectiveDirective + ' ' + event.blockedURI + ' at ' + event.sourceFile + ':' + event.lineNumber))`

/** Collects what no page may have, from now on: reports of the policy, errors in the console, and uncaught errors. */
export async function collectProblems(context: BrowserContext): Promise<readonly string[]> {
  const problems: string[] = []
  await context.exposeFunction('reportViolation', (text: string) => void problems.push(`policy: ${text}`))
  await context.addInitScript(WATCH)
  context.on('console', (message) => {
    if (message.type() === 'error' && !isExpected(message)) problems.push(`console: ${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (error) => void problems.push(`uncaught: ${error.error().message}`))
  return problems
}

function isExpected(message: ConsoleMessage): boolean {
  if (OF_THE_NETWORK.test(message.text())) return true
  if (CONFLICT.test(message.text()) && message.location().url.includes('/files/content?')) return true
  return NO_SESSION.test(message.text()) && message.location().url.endsWith('/dashboard/api/me')
}
