// Sources in this browser's database: versions, and drafts that its small store has no room for.
//
// That small store, `localStorage`, holds 5 million characters in all, so a few sources of 1 MiB fill it.

import { keyOf, surplus, type Version, type VersionKey } from "./versions";

const DATABASE = "wavepool";
const VERSIONS = "versions";
const DRAFTS = "drafts";

let connection: Promise<IDBDatabase> | null = null;

// The newest first.
export async function versionsOf(draft: string): Promise<Version[]> {
  const found = await done<Version[]>((await store(VERSIONS, "readonly")).getAll(allOf(draft)));
  return found.toReversed();
}

// Nothing happens if the text is that of the newest one. All of it is one transaction.
export async function addVersion(version: Version): Promise<void> {
  const versions = await store(VERSIONS, "readwrite");
  const newest = await done(versions.openCursor(allOf(version.draft), "prev"));
  if ((newest?.value as Version | undefined)?.code === version.code) return;
  versions.put(version, keyOf(version));
  const keys = await done(versions.getAllKeys());
  for (const key of surplus(keys as unknown as VersionKey[])) versions.delete(key);
  await ended(versions.transaction);
}

export async function largeDraft(name: string): Promise<string | null> {
  return (await done<string | undefined>((await store(DRAFTS, "readonly")).get(name))) ?? null;
}

export async function keepLargeDraft(name: string, code: string): Promise<void> {
  const drafts = await store(DRAFTS, "readwrite");
  drafts.put(code, name);
  await ended(drafts.transaction);
}

function allOf(draft: string): IDBKeyRange {
  return IDBKeyRange.bound([draft], [draft, []]);
}

async function store(name: string, mode: IDBTransactionMode): Promise<IDBObjectStore> {
  connection ??= opened();
  try {
    return (await connection).transaction(name, mode).objectStore(name);
  } catch (error) {
    connection = null;
    throw error;
  }
}

async function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(VERSIONS);
    request.result.createObjectStore(DRAFTS);
  };
  return done(request);
}

function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
