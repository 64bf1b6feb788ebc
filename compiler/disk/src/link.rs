//! Another name for a file that is there.

use super::{Disk, Operation};
use crate::unfinished::builder;
use std::fs::File;
use std::io;
use std::path::Path;

/// Gives a file a second name, in place of the file that has it, in one step; missing folders are made. The name is on the device.
///
/// # Errors
/// Those of the system, also where its file system has no second names: then nothing has changed.
pub fn link_on(disk: &Disk, file: &Path, place: &Path) -> io::Result<()> {
    let folder = disk.make_folder_of(place)?;
    // As long as it has the name of what is unfinished, nobody is to take it for a leftover.
    let lock = File::open(file)?;
    lock.lock_shared()?;
    let make = || Ok(builder().make_in(&folder, |path| std::fs::hard_link(file, path))?.keep()?.1);
    let unfinished = disk.call(Operation::Link, make, || Ok(()))?;
    if let Err(error) = disk.rename(&unfinished, place) {
        // What stays is found when next something is written here.
        let _ = disk.remove(&unfinished);
        return Err(error);
    }
    // Of two names of one file, the first stays where it is renamed to the second.
    disk.remove(&unfinished)?;
    disk.sync_folder(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fate;
    use std::io::ErrorKind;

    #[test]
    fn a_name_is_replaced_whole() {
        for fate in [Fate::Fails(ErrorKind::StorageFull), Fate::Killed] {
            for n in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let (file, place) = (folder.path().join("new"), folder.path().join("place"));
                std::fs::write(&file, "new").unwrap();
                std::fs::write(&place, "old").unwrap();
                let disk = Disk::planned(move |number, _| if number == n { fate } else { Fate::Done });
                let linked = link_on(&disk, &file, &place);
                let found = std::fs::read_to_string(&place).unwrap();
                assert!(found == "new" || (linked.is_err() && found == "old"), "call {n} {fate:?}: {found}");
                if disk.calls() <= n {
                    assert!(linked.is_ok() && n > 2, "call {n}");
                    break;
                }
                link_on(&Disk::default(), &file, &place).unwrap();
                assert_eq!(std::fs::read_to_string(&place).unwrap(), "new");
            }
        }
    }
}
