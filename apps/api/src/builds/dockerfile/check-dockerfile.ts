import { DockerfileParser, Keyword, ModifiableInstruction, Onbuild, type Instruction } from 'dockerfile-ast'
import { dockerfileError, readDockerfileLines, type DockerfileLines, type InstructionLine } from '@sandyard/dockerfile/dockerfile-lines'
import { hasHereDocument } from '@sandyard/dockerfile/here-document'
import { isKernelDirectory, NO_KERNEL_DIRECTORY } from '@sandyard/runtime/kernel-directory'
import { shorten } from '../../text/shorten.ts'

const MAX_BYTES = 256 * 1024
const MAX_INSTRUCTIONS = 1000
/** The engine's parser refuses lines that are not much longer. */
const MAX_INSTRUCTION_CHARS = 60_000

const KEYWORDS: ReadonlySet<string> = new Set(Object.values(Keyword))

/** The flags that the engine's own builder knows; all others of these instructions are BuildKit's. */
const FLAGS: Readonly<Record<string, readonly string[]>> = { RUN: [], COPY: ['from', 'chown'] }

/**
 * Refuses what the engine's own builder cannot build from a text alone (design.md 3): files of a context, and what only BuildKit knows.
 *
 * @throws AppError `invalid_argument`, which names the line
 */
export function checkDockerfile(source: string): void {
  if (source.trim() === '') throw dockerfileError('it is empty')
  if (Buffer.byteLength(source) > MAX_BYTES) throw dockerfileError(`it is larger than ${MAX_BYTES / 1024} KiB`)
  const { instructions, escape } = readDockerfileLines(source)
  if (instructions.length > MAX_INSTRUCTIONS) throw dockerfileError(`it has more than ${MAX_INSTRUCTIONS} instructions`)
  let hasStage = false
  for (const { line, text } of instructions) {
    if (text.length > MAX_INSTRUCTION_CHARS)
      throw dockerfileError(`the instruction is longer than ${MAX_INSTRUCTION_CHARS} characters`, line)
    const instruction = parse({ line, text }, escape)
    const keyword = instruction.getKeyword()
    hasStage ||= keyword === 'FROM'
    if (!hasStage && keyword !== 'ARG') throw dockerfileError(`FROM must come before ${keyword}`, line)
    checkInstruction(instruction, line)
  }
  if (!hasStage) throw dockerfileError('there is no FROM')
}

function parse({ line, text }: InstructionLine, escape: DockerfileLines['escape']): Instruction {
  const [instruction, ...rest] = DockerfileParser.parse(escape === '\\' ? text : `# escape=${escape}\n${text}`).getInstructions()
  const word = text.split(/[ \t]/, 1)[0] ?? ''
  if (instruction === undefined || rest.length > 0 || instruction.getInstruction() !== word || !KEYWORDS.has(word.toUpperCase())) {
    throw dockerfileError(`unknown instruction: ${shorten(word)}`, line)
  }
  return instruction
}

function checkInstruction(instruction: Instruction, line: number): void {
  const keyword = instruction.getKeyword()
  const content = instruction.getArgumentsContent() ?? ''
  if (content.trim() === '') throw dockerfileError(`${keyword} needs arguments`, line)
  if (instruction instanceof Onbuild) {
    const trigger = instruction.getTriggerInstruction()
    // The engine refuses it too. The parser takes quadratic time for a long chain.
    if (trigger instanceof Onbuild) throw dockerfileError('ONBUILD cannot have ONBUILD as its instruction', line)
    if (trigger !== null) checkInstruction(trigger, line)
    return
  }
  if (keyword === 'WORKDIR' && isKernelDirectory(absolutePath(content))) throw dockerfileError(`WORKDIR: ${NO_KERNEL_DIRECTORY}`, line)
  if (keyword === 'ADD') throw dockerfileError(explainAdd(content), line)
  if (keyword !== 'RUN' && keyword !== 'COPY') return
  if (hasHereDocument(content)) throw dockerfileError(`here-documents need BuildKit, ${NO_BUILDKIT}`, line)
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : []
  const unknown = flags.find((flag) => FLAGS[keyword]?.includes(flag.getName()) !== true)
  if (unknown !== undefined) throw dockerfileError(`${keyword} --${shorten(unknown.getName())} needs BuildKit, ${NO_BUILDKIT}`, line)
  if (keyword === 'RUN') return
  const from = flags.find((flag) => flag.getName() === 'from')?.getValue()
  if (from === undefined || from === null || from === '') throw dockerfileError(`COPY ${NO_CONTEXT}`, line)
}

/** Without quotes and escapes; `/` for a relative path. The runtime checks paths with variables, and relative ones, when it knows them. */
function absolutePath(content: string): string {
  const path = content.trim().replaceAll(/["'`\\]/g, '')
  return path.startsWith('/') ? path : '/'
}

const NO_BUILDKIT = 'and this server builds without it'

const NO_CONTEXT =
  'has no build context to take files from: only the text of the Dockerfile is here. Take them from another stage or image with ' +
  'COPY --from, fetch them in a RUN, or add them with the COPY steps of a template of POST /v3/templates'

/** The engine itself would fetch a URL, from outside of the network that the build is confined to. */
function explainAdd(content: string): string {
  const isRemote = /(?:^|[\s"'[,])(?:https?|git|ssh):\/\/|git@/i.test(content)
  return isRemote
    ? 'ADD of a URL is not supported, because the engine would fetch it outside of the build: fetch it in a RUN'
    : `ADD ${NO_CONTEXT}`
}
