/** `ARG` of the Dockerfile, of a trigger that it defines, and of one that an image brings. */
const DECLARATION = /^\s*(?:ONBUILD\s+)*ARG\s+(.*)$/i
const PLAIN_NAME = /^[A-Za-z0-9_]+$/

/**
 * The build arguments whose names no instruction declares: the builder stores the value of a declared one in the history of the image. A
 * declaration whose name is computed may be any of them.
 *
 * @param instructions - one in each line
 */
export function undeclaredArguments(
  values: Readonly<Record<string, string>>,
  instructions: readonly string[],
): Readonly<Record<string, string>> {
  const declared = instructions.flatMap((line) => {
    const words = DECLARATION.exec(line)?.[1]?.split(/\s+/) ?? []
    return words.map((word) => word.split('=', 1)[0] ?? '')
  })
  const names = new Set(declared)
  const isComputed = declared.some((name) => name !== '' && !PLAIN_NAME.test(name))
  return isComputed ? {} : Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)))
}
