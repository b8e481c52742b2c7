import { stripTypeScriptTypes } from 'node:module'
import type { Failure } from '../kernels/kernel.ts'

/** The first error of syntax in JavaScript or TypeScript; undefined when there is none. Deno's kernel says only that it could not run the code. */
export function findSyntaxError(code: string): Failure | undefined {
  try {
    stripTypeScriptTypes(code, { mode: 'transform' })
    return undefined
  } catch (err) {
    if (!(err instanceof Error)) return undefined
    // Before the error the stack has the number of the line and the line itself.
    const [place = ''] = (err.stack ?? '').split('\n\n')
    return { name: 'SyntaxError', value: err.message, traceback: `SyntaxError: ${err.message}\nline ${place.replace(/^:/, '')}` }
  }
}
