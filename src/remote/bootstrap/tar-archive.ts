// Writes a tar archive (ustar) as a stream, so that a push needs neither a temporary file nor a tar program at this
// end.
import { createReadStream, statSync } from "node:fs";

export interface ArchivedFile {
  /** The path inside the archive, at most 100 bytes. */
  readonly name: string;
  readonly path: string;
  readonly isProgram?: boolean;
}

const BLOCK = 512;

export async function* tarArchive(files: readonly ArchivedFile[]): AsyncGenerator<Buffer, void, void> {
  for (const { name, path, isProgram = false } of files) {
    const { size } = statSync(path);
    yield header(name, size, isProgram);
    let left = size;
    for await (const chunk of createReadStream(path)) {
      // Read no more than the header says: a file that grows during the read must not shift the next header.
      const bytes = (chunk as Buffer).subarray(0, left);
      left -= bytes.length;
      yield bytes;
    }
    if (left > 0) throw new Error(`${path} became shorter while it was read`);
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Total bytes of the files. */
export function archiveSize(files: readonly ArchivedFile[]): number {
  return files.reduce((sum, { path }) => sum + statSync(path).size, 0);
}

function header(name: string, size: number, isProgram: boolean): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = (text: string, at: number) => block.write(text, at, "latin1");
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put(name, 0);
  put(`${octal(isProgram ? 0o700 : 0o600, 7)}\0`, 100);
  put(`${octal(0, 7)}\0${octal(0, 7)}\0`, 108);
  put(`${octal(size, 11)}\0${octal(0, 11)}\0`, 124);
  put("        0", 148);
  put("ustar\0" + "00", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\0 `, 148);
  return block;
}
