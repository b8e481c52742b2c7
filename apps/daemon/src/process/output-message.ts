/** Numbers of the fields from a response down to the bytes of its output (envd.md 8.1). */
const [EVENT, DATA] = [1, 2]
const OUTPUT = { stdout: 1, stderr: 2, pty: 3 } as const
/** All of them have a length in front (protobuf's wire type 2). */
const LENGTH_DELIMITED = 2

/** The response that carries output, in protobuf. There may be gigabytes of it, and a message object for each piece takes twice as long. */
export function encodeOutput(kind: keyof typeof OUTPUT, bytes: Uint8Array): Buffer<ArrayBuffer> {
  const output = [...fieldHead(OUTPUT[kind], bytes.length)]
  const data = [...fieldHead(DATA, output.length + bytes.length), ...output]
  const event = [...fieldHead(EVENT, data.length + bytes.length), ...data]
  return Buffer.concat([Buffer.from(event), bytes])
}

function* fieldHead(field: number, length: number): Generator<number> {
  yield (field << 3) | LENGTH_DELIMITED
  let rest = length
  for (; rest > 0x7f; rest >>>= 7) yield (rest & 0x7f) | 0x80
  yield rest
}
