import { asciiLiteral, type VariableChanges } from './variables-to-code.ts'

export function javascriptVariables(changes: VariableChanges): string {
  const statements = Object.entries(changes).map(([name, value]) =>
    value === undefined ? `delete process.env[${asciiLiteral(name)}]` : `process.env[${asciiLiteral(name)}] = ${asciiLiteral(value)}`,
  )
  return `{ ${statements.join('; ')} }`
}

/** Deno has no `require`, which much code for Node begins with. */
export const JAVASCRIPT_SETUP = `globalThis.require = (await import('node:module')).createRequire(process.cwd() + '/')`

/** Deno sends the result of a cell from a task of its own, about one in ten first results after the end of the cell: a turn of its loop later it has. */
export const JAVASCRIPT_FENCE = 'void (await new Promise((done) => setTimeout(done)))'
