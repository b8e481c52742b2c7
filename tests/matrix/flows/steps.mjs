/** Does one step of a flow and prints `ok <name>`, or `failed <name>: <reason>`; see run-flow.ts. */
export async function step(name, work) {
  try {
    const result = await work()
    console.log(`ok ${name}`)
    return result
  } catch (error) {
    console.log(`failed ${name}: ${String(error?.message ?? error).replaceAll('\n', ' ')}`)
    throw error
  }
}

/** Ends a flow that has passed, although clients keep connections open. */
export function finish() {
  process.exit(0)
}
