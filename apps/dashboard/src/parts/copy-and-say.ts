import { frameTexts } from '../texts/frame-texts.ts'
import { copyText } from './copy-text.ts'
import { toast } from './toasts.tsx'

/** Copies a text, and says whether it was copied. */
export async function copyAndSay(text: string): Promise<void> {
  const isCopied = await copyText(text)
  toast(isCopied ? 'done' : 'failed', isCopied ? frameTexts.copied : frameTexts.notCopied)
}
