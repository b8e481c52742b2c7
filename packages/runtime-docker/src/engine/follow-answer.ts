import { createInterface } from 'node:readline'

/** A line of the engine's answer to a build, a pull or an import. */
export interface EngineNews {
  readonly stream?: string
  readonly status?: string
  readonly id?: string
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
  readonly error?: string
}

/**
 * Reads the engine's answer to its end. The engine sends status 200 before it begins, so a failure is a line of the answer; dockerode's
 * own reader would treat it as a success.
 *
 * @throws Error with the engine's text for a failure, or when the answer breaks off
 */
export async function followAnswer(answer: NodeJS.ReadableStream, onNews: (news: EngineNews) => void = () => undefined): Promise<void> {
  const broken = new Promise<never>((_, reject) => answer.once('error', reject))
  broken.catch(() => undefined)
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input: answer })) {
      if (line.trim() === '') continue
      const news = JSON.parse(line) as EngineNews
      if (news.error !== undefined) throw new Error(news.error)
      onNews(news)
    }
  }
  await Promise.race([read(), broken])
}
