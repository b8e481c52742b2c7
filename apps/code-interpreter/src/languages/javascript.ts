import { asciiLiteral, type VariableChanges } from './variables-to-code.ts'

export function javascriptVariables(changes: VariableChanges): string {
  const statements = Object.entries(changes).map(([name, value]) =>
    value === undefined ? `delete process.env[${asciiLiteral(name)}]` : `process.env[${asciiLiteral(name)}] = ${asciiLiteral(value)}`,
  )
  return `{ ${statements.join('; ')} }`
}

/**
 * Deno has no `require`, which much code for Node begins with. An error that nobody catches, in a timer for example, would end Deno's worker,
 * and no later cell would end: it is printed instead. A turn of the loop is kept for the fence, because cells may replace the global functions.
 */
export const JAVASCRIPT_SETUP = `globalThis.require = (await import('node:module')).createRequire(process.cwd() + '/')
;((print) => {
  addEventListener('error', (event) => { event.preventDefault(); print(event.error) })
  addEventListener('unhandledrejection', (event) => { event.preventDefault(); print(event.reason) })
})(console.error)
;((later, Turn) => Object.defineProperty(globalThis, Symbol.for('cell.turn'), { value: () => new Turn((done) => later(done)) }))(setTimeout, Promise)`

/** Deno sends the result of a cell from a task of its own, about one in ten first results after the end of the cell: a turn of its loop later it has. */
export const JAVASCRIPT_FENCE = "void (await globalThis[Symbol.for('cell.turn')]())"
